import { StreamFault } from "../../errors/upstream-fault.js";
import { isRecord } from "../../wire/is-record.js";
import { ObjectScan } from "../../wire/object-scan.js";
import { writeOwnSignature } from "../messages/own-thinking.js";
import type { MessageTranslation } from "./message-translation.js";
import { addDetails, type ReasoningDelta } from "./reasoning-reader.js";
import { FreeIds, toMessagesToolId } from "./tool-ids.js";

/**
 * Writes blocks one behind the other, as clients of Messages need them: each begins, grows and ends before the next one
 * begins. While the arguments of a tool call are not complete, what comes for other blocks waits.
 */
export class BlockLadder {
  readonly #translation: MessageTranslation;
  /** For calls without an id. */
  readonly #messageId: string;
  readonly #calls = new Map<number, ToolCall>();
  readonly #ids = new FreeIds();
  readonly #waiting: BlockItem[] = [];
  #events: BlockEvent[] = [];
  #open: BlockItem | undefined;
  #index = -1;

  constructor(translation: MessageTranslation, messageId: string) {
    this.#translation = translation;
    this.#messageId = messageId;
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  /** How many blocks have begun. */
  get size(): number {
    return this.#index + 1;
  }

  /** The events since the last look. */
  take(): BlockEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  text(text: string): void {
    if (text === "") return;
    this.#advance();
    if (this.#waits()) {
      const last = this.#waiting.at(-1);
      if (last?.kind === "text") last.text += text;
      else this.#waiting.push({ kind: "text", text });
      return;
    }
    if (this.#open?.kind !== "text") this.#begin({ kind: "text", text: "" });
    this.#delta({ type: "text_delta", text });
  }

  thinking({ text, details }: ReasoningDelta): void {
    if (this.#translation.thinking === "hidden" || (text === "" && details.length === 0)) return;
    this.#advance();
    if (this.#waits()) {
      const last = this.#waiting.at(-1);
      const item: Thinking = last?.kind === "thinking" ? last : newThinking();
      if (item !== last) this.#waiting.push(item);
      item.text += text;
      addDetails(item.details, details);
      return;
    }
    if (this.#open?.kind !== "thinking") this.#begin(newThinking());
    this.#think(this.#open as Thinking, text, details);
  }

  /** @throws StreamFault when it belongs to a call whose block has ended. */
  call(index: number, delta: Record<string, unknown>): void {
    const known = this.#calls.get(index);
    const call = known ?? newCall();
    if (known === undefined) {
      this.#calls.set(index, call);
      this.#waiting.push(call);
    }
    const { id } = delta;
    const called = isRecord(delta["function"]) ? delta["function"] : {};
    if (call.id === "" && typeof id === "string") call.id = id;
    if (call.name === "" && typeof called["name"] === "string") call.name = called["name"];
    if (isRecord(delta["extra_content"])) call.extra = delta["extra_content"];
    if (typeof called["arguments"] === "string" && called["arguments"] !== "") {
      if (call.isClosed) throw new StreamFault("garbage");
      call.waiting += called["arguments"];
      call.scan.read(called["arguments"]);
    }
    this.#sendArguments();
    this.#advance();
  }

  /** Writes what waits, and ends the last block. @throws StreamFault when a call has no name. */
  finish(): void {
    for (let item = this.#waiting.shift(); item !== undefined; item = this.#waiting.shift()) this.#begin(item);
    this.#close();
  }

  /** Whether what comes now has to wait for a call. */
  #waits(): boolean {
    if (this.#waiting.length > 0) return true;
    return this.#isCalling();
  }

  /** A call is open whose arguments are not complete. */
  #isCalling(): boolean {
    return this.#open?.kind === "tool" && !this.#open.scan.isComplete;
  }

  #advance(): void {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      if (this.#isCalling()) return;
      if (next.kind === "tool" && next.name === "") return;
      this.#waiting.shift();
      this.#begin(next);
    }
  }

  #begin(item: BlockItem): void {
    this.#close();
    if (item.kind === "tool" && item.extra !== undefined) this.#keep(item.extra);
    this.#index++;
    this.#open = item;
    this.#events.push({ type: "content_block_start", index: this.#index, content_block: this.#emptyBlock(item) });
    if (item.kind === "tool") {
      this.#sendArguments();
    } else if (item.kind === "text") {
      if (item.text !== "") this.#delta({ type: "text_delta", text: item.text });
    } else if (item.text !== "" && this.#translation.thinking === "shown") {
      this.#delta({ type: "thinking_delta", thinking: item.text });
    }
  }

  /** Thinking that nobody sees is the one thing that clients send back as it was. */
  #keep(extra: Record<string, unknown>): void {
    this.#index++;
    const block = { type: "thinking", thinking: "", signature: "" };
    this.#events.push({ type: "content_block_start", index: this.#index, content_block: block });
    const signature = writeOwnSignature(this.#translation.thoughts, { extra });
    this.#delta({ type: "signature_delta", signature });
    this.#events.push({ type: "content_block_stop", index: this.#index });
  }

  #emptyBlock(item: BlockItem): Record<string, unknown> {
    if (item.kind === "text") return { type: "text", text: "" };
    if (item.kind === "thinking") return { type: "thinking", thinking: "", signature: "" };
    if (item.name === "") throw new StreamFault("garbage");
    const name = this.#translation.toolNames.fromChat(item.name);
    return { type: "tool_use", id: this.#idOf(item), name, input: {} };
  }

  #idOf(call: ToolCall): string {
    return this.#ids.take(call.id === "" ? `toolu_${this.#messageId}_${this.#ids.size}` : toMessagesToolId(call.id));
  }

  #think(thinking: Thinking, text: string, details: ReasoningDelta["details"]): void {
    thinking.text += text;
    addDetails(thinking.details, details);
    if (text !== "" && this.#translation.thinking === "shown") this.#delta({ type: "thinking_delta", thinking: text });
  }

  #sendArguments(): void {
    const call = this.#open;
    if (call?.kind !== "tool" || call.waiting === "") return;
    this.#delta({ type: "input_json_delta", partial_json: call.waiting });
    call.waiting = "";
  }

  #close(): void {
    const item = this.#open;
    if (item === undefined) return;
    if (item.kind === "tool") item.isClosed = true;
    if (item.kind === "thinking") this.#delta({ type: "signature_delta", signature: this.#sign(item) });
    this.#events.push({ type: "content_block_stop", index: this.#index });
    this.#open = undefined;
  }

  #sign({ text, details }: Thinking): string {
    return writeOwnSignature(this.#translation.thoughts, {
      text: this.#translation.thinking === "omitted" ? text : undefined,
      details: details.length === 0 ? undefined : details,
    });
  }

  #delta(delta: Record<string, unknown>): void {
    this.#events.push({ type: "content_block_delta", index: this.#index, delta });
  }
}

/** An event of a stream of Messages that has to do with a block. */
export interface BlockEvent {
  readonly type: "content_block_start" | "content_block_delta" | "content_block_stop";
  readonly index: number;
  readonly content_block?: Record<string, unknown>;
  readonly delta?: Record<string, unknown>;
}

interface ToolCall {
  readonly kind: "tool";
  id: string;
  name: string;
  /** Of its arguments, what has not gone out. */
  waiting: string;
  /** Of all of its arguments. */
  readonly scan: ObjectScan;
  /** What the upstream wants back with the call, beside its arguments. */
  extra: Record<string, unknown> | undefined;
  isClosed: boolean;
}

interface Thinking {
  readonly kind: "thinking";
  text: string;
  readonly details: Record<string, unknown>[];
}

interface Text {
  readonly kind: "text";
  text: string;
}

type BlockItem = ToolCall | Thinking | Text;

function newCall(): ToolCall {
  return { kind: "tool", id: "", name: "", waiting: "", scan: new ObjectScan(), extra: undefined, isClosed: false };
}

function newThinking(): Thinking {
  return { kind: "thinking", text: "", details: [] };
}
