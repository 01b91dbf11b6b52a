import { StreamFault } from "../../errors/upstream-fault.js";
import { isRecord } from "../../wire/is-record.js";
import { joinTextParts } from "../chat/chat-response.js";
import { meaningOfEnd } from "../shared/received-response.js";
import { type BlockEvent, BlockLadder } from "./block-ladder.js";
import type { MessageTranslation } from "./message-translation.js";
import { ReasoningReader } from "./reasoning-reader.js";

/** Where the one call of the former way to call functions stands among the calls. */
const formerCall = -1;

/** Reads the deltas of one answer of chat completions into the blocks of a message. */
export class ChatDeltaReader {
  readonly #ladder: BlockLadder;
  readonly #reasoning = new ReasoningReader();
  readonly #stopSequences: readonly string[];
  #finishReason: string | undefined;
  #matched: unknown;
  #refusal: string | undefined;

  constructor(translation: MessageTranslation, messageId: string) {
    this.#ladder = new BlockLadder(translation, messageId);
    this.#stopSequences = translation.stopSequences;
  }

  /** The answer has said why it ended. */
  get isComplete(): boolean {
    return this.#finishReason !== undefined;
  }

  /**
   * @param chunk - a chunk of a stream, of which the first choice counts.
   * @throws StreamFault when it cannot be said in the order that Messages have.
   */
  read(chunk: Record<string, unknown>): BlockEvent[] {
    const choices: unknown[] = Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
    for (const choice of choices) {
      if (isRecord(choice) && (choice["index"] ?? 0) === 0) this.#readChoice(choice);
    }
    return this.#ladder.take();
  }

  /** The events that end the blocks. @throws StreamFault `incomplete` */
  finish(): BlockEvent[] {
    if (this.#finishReason === undefined) throw new StreamFault("incomplete");
    this.#ladder.finish();
    return this.#ladder.take();
  }

  /** To be asked for behind {@link finish}. */
  get stop(): MessageStop {
    const { hasCalls } = this.#ladder;
    const ending = { finishReason: this.#finishReason ?? "stop", matched: this.#matched, hasCalls };
    return toMessageStop({ ...ending, refusal: this.#refusal }, this.#stopSequences);
  }

  #readChoice(choice: Record<string, unknown>): void {
    const delta = choice["delta"];
    if (isRecord(delta)) this.#readDelta(delta);
    const finish = choice["finish_reason"];
    if (typeof finish !== "string" || finish === "") return;
    this.#finishReason ??= finish;
    this.#matched ??= matchedStop(choice);
  }

  #readDelta(delta: Record<string, unknown>): void {
    if (Array.isArray(delta["content"])) joinTextParts(delta);
    this.#ladder.thinking(this.#reasoning.read(delta));
    if (typeof delta["content"] === "string") this.#ladder.text(delta["content"]);
    const { refusal } = delta;
    // Some servers have an empty one in every answer.
    if (typeof refusal === "string" && refusal !== "") {
      this.#refusal = (this.#refusal ?? "") + refusal;
      this.#ladder.text(refusal);
    }
    const calls: unknown[] = Array.isArray(delta["tool_calls"]) ? delta["tool_calls"] : [];
    for (const call of calls) if (isRecord(call)) this.#ladder.call(call["index"] as number, call);
    const former = delta["function_call"];
    if (isRecord(former)) this.#ladder.call(formerCall, { function: former });
  }
}

/** Why a message ended, as clients of Messages read it. */
interface MessageStop {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details?: { readonly type: "refusal"; readonly category: null; readonly explanation: string | null };
}

/** What has been seen of an answer of chat completions. */
interface ChatEnding {
  readonly finishReason: string;
  /** A stop sequence that the upstream names, as vLLM and SGLang do. */
  readonly matched: unknown;
  readonly hasCalls: boolean;
  /** What the model has said when it refused; not empty. */
  readonly refusal: string | undefined;
}

function toMessageStop(ending: ChatEnding, stopSequences: readonly string[]): MessageStop {
  const { finishReason, matched, hasCalls, refusal } = ending;
  const meaning = meaningOfEnd(finishReason);
  if (meaning === "length") return { stop_reason: "max_tokens", stop_sequence: null };
  if (meaning === "content_filter" || refusal !== undefined) {
    return {
      stop_reason: "refusal",
      stop_sequence: null,
      stop_details: { type: "refusal", category: null, explanation: refusal ?? null },
    };
  }
  if (hasCalls) return { stop_reason: "tool_use", stop_sequence: null };
  if (typeof matched === "string" && stopSequences.includes(matched)) {
    return { stop_reason: "stop_sequence", stop_sequence: matched };
  }
  return { stop_reason: "end_turn", stop_sequence: null };
}

/** Where vLLM, and where SGLang, names the stop sequence that it met. */
function matchedStop(choice: Record<string, unknown>): unknown {
  return choice["stop_reason"] ?? choice["matched_stop"];
}
