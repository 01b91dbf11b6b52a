import { Buffer } from "node:buffer";
import { StreamFault } from "../../errors/upstream-fault.js";
import { soundUsage } from "../../prices/usage-counts.js";
import { areDistinct, placeOf } from "../../wire/event-place.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import {
  type ByteSpan,
  type EventPlace,
  type EventPlaces,
  TemplateShortcut,
  type TemplateSource,
} from "../../wire/event-template.js";
import { isRecord } from "../../wire/is-record.js";
import { editMembers, type MemberEdits, memberOf, membersOf, splice, valueAt } from "../../wire/json-members.js";
import { ownId } from "../shared/exchange.js";
import type { UpstreamFailureContext } from "../shared/upstream-failure.js";
import type { MessageProgress } from "./message-progress.js";
import { countedUsage, finishReasonOf, hasCounts, type MessageContext, messageIdOf } from "./message-response.js";
import { MessageStreamReader } from "./message-stream-reader.js";
import { messagesEvent } from "./message-to-events.js";

function isSound(usage: unknown): boolean {
  return usage === undefined || soundUsage(usage) === usage;
}

function withUsage(json: string, usage: string): string {
  const bytes = Buffer.from(json);
  return editMembers(bytes, membersOf(bytes), new Map([["usage", usage]])).toString();
}

/** What can be the name of an event. */
const plainType = /^[\w.-]+$/;

/** Types of events that are about the message. */
const ofMessage = /^(?:message|content_block)_/;

/**
 * Turns the events of a stream of Messages, one by one, into what a client of Messages gets: with the client's name for the
 * model, and the counts without which clients fail. Everything else stays byte for byte. Pure: it reads and writes nothing.
 */
export class MessageStream {
  readonly shortcut: TemplateShortcut;
  readonly #context: MessageContext;
  readonly #reader: MessageStreamReader;
  #hasBegun = false;

  constructor(context: MessageContext & UpstreamFailureContext) {
    this.#context = context;
    this.#reader = new MessageStreamReader(context);
    this.shortcut = new TemplateShortcut(new BlockDeltaSource(this.#reader.progress));
  }

  get progress(): MessageProgress {
    return this.#reader.progress;
  }

  /**
   * @returns the event for the client, or `undefined` when there is none.
   * @throws StreamFault
   */
  event(event: ServerSentEvent): Uint8Array | undefined {
    const said = this.#reader.read(event);
    if (said === undefined) return undefined;
    const { type, members } = said;
    if (!plainType.test(type) || this.#isRepeated(type)) return undefined;
    this.#mark(type, members);
    const text = event.data.trim();
    // A line break in valid JSON can only be white space, and must not break up the event's line.
    const json = text.includes("\n") ? text.replaceAll("\n", " ") : text;
    // Clients go by the name, which some servers leave out, or have the same for all.
    return messagesEvent(type, this.#edited(type, members, json));
  }

  /**
   * What the client gets when the upstream has ended: the last event, if that did not come.
   * @throws StreamFault `incomplete`
   */
  end(): Uint8Array {
    const { isDone } = this.progress;
    this.#reader.end();
    return isDone ? new Uint8Array() : messagesEvent("message_stop", '{"type":"message_stop"}');
  }

  /**
   * Whether the message begins a second time, which clients fail at.
   * @throws StreamFault where something of it comes before its beginning.
   */
  #isRepeated(type: string): boolean {
    const hasBegun = this.#hasBegun;
    this.#hasBegun ||= type === "message_start";
    if (!this.#hasBegun && ofMessage.test(type)) throw new StreamFault("garbage");
    return hasBegun && type === "message_start";
  }

  #mark(type: string, { message, delta }: Record<string, unknown>): void {
    if (type === "message_start" && isRecord(message)) {
      this.progress.responseId = messageIdOf(message) ?? ownId("msg", this.#context);
    } else if (type === "message_delta" && isRecord(delta) && typeof delta["stop_reason"] === "string") {
      this.progress.finishReason = finishReasonOf(delta["stop_reason"], false);
    }
  }

  /** What carries the model, or lacks a count. */
  #edited(type: string, said: Record<string, unknown>, json: string): string {
    if (type === "message_start" && isRecord(said["message"])) return this.#renamed(said["message"], json);
    const { usage } = said;
    if (type !== "message_delta") return isSound(usage) ? json : withUsage(json, JSON.stringify(soundUsage(usage)));
    const isCounted = isRecord(usage) && Number.isInteger(usage["output_tokens"]) && soundUsage(usage) === usage;
    // Before the end, more may come; behind it, the client gets what is charged.
    if (isCounted && !(this.progress.isComplete && this.progress.estimated)) return json;
    return withUsage(json, this.#counted(usage));
  }

  #renamed(message: Record<string, unknown>, json: string): string {
    const bytes = Buffer.from(json);
    const members = membersOf(bytes);
    const inner = memberOf(members, "message");
    if (inner === undefined) return json;
    const own = membersOf(bytes, inner.start);
    const model = memberOf(own, "model");
    const name = JSON.stringify(this.#context.model);
    const id = messageIdOf(message);
    if (id !== undefined && hasCounts(message["usage"]) && model !== undefined) {
      return splice(bytes, model.start, model.end, name).toString();
    }
    const edits: MemberEdits = new Map([["model", name]]);
    if (id === undefined) edits.set("id", JSON.stringify(this.progress.responseId));
    if (!hasCounts(message["usage"])) edits.set("usage", this.#counted(message["usage"]));
    const value = bytes.subarray(inner.start, inner.end);
    const edited = editMembers(value, membersOf(value), edits);
    return splice(bytes, inner.start, inner.end, edited.toString()).toString();
  }

  #counted(usage: unknown): string {
    return JSON.stringify(countedUsage(usage, this.progress.tokens));
  }
}

/** The members of a delta that bring what the model writes, one in each. */
const textMembers: readonly string[] = ["text", "thinking", "partial_json"];

/** The events that bring a piece of a block: they differ in its text alone. */
class BlockDeltaSource implements TemplateSource {
  readonly count = 0;
  readonly #progress: MessageProgress;

  constructor(progress: MessageProgress) {
    this.#progress = progress;
  }

  takes(): boolean {
    return true;
  }

  placesOf(received: Buffer, sent: Buffer): EventPlaces | undefined {
    if (!received.equals(sent)) return undefined;
    const found = findBlockText(received);
    return found && { received: [found.place], sent: [found.place] };
  }

  passed(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number): void {
    this.#progress.textCame(bytes, text, escapes);
  }
}

/** The text of an event. */
interface BlockText {
  readonly place: EventPlace;
  /** The member of the delta that has it. */
  readonly member: string;
}

/** @returns where the text of a `content_block_delta` stands that has one; `undefined` for all else. */
export function findBlockText(json: Buffer): BlockText | undefined {
  const members = membersOf(json);
  const type = memberOf(members, "type");
  const delta = memberOf(members, "delta");
  if (!areDistinct(members) || type === undefined || delta === undefined || json[delta.start] !== 0x7b)
    return undefined;
  if (valueAt(json, type) !== "content_block_delta") return undefined;
  const inner = membersOf(json, delta.start);
  const others = inner.filter(({ name }) => name !== "type" && name !== "index");
  const [text, ...more] = others;
  if (!areDistinct(inner) || text === undefined || more.length > 0 || !textMembers.includes(text.name))
    return undefined;
  return json[text.start] === 0x22 ? { place: placeOf("text", text), member: text.name } : undefined;
}
