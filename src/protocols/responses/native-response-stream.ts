import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import { StreamFault } from "../../errors/upstream-fault.js";
import { asBuffer, ByteWriter } from "../../wire/bytes.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import {
  type JsonMember,
  type MemberEdits,
  type MemberWriter,
  membersOf,
  writeEdited,
} from "../../wire/json-members.js";
import { eventEnd, keepAliveComment } from "../../wire/plain-event.js";
import { noSkips, type Skips } from "../../wire/skip-table.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { mostResponseParts, PartCount } from "../shared/response-bounds.js";
import { fromErrorObject } from "../shared/upstream-failure.js";
import {
  eventEdits,
  failureOf,
  finishOfResponse,
  itemText,
  type NativeResponseContext,
  repairEvent,
} from "./native-response.js";
import { failureEvents, frameEvents, keepAliveEvent, type ResponseEvent } from "./response-events.js";
import { ResponseProgress } from "./response-progress.js";
import { DeltaSource, type LongEvent, ResponseShortcut } from "./response-shortcut.js";

/** The events that end a stream without an error. */
const lastEvents: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete"]);

/**
 * Converts the events of an upstream's own response stream for the client: own id, own model name, usage always
 * present. All other events stay byte for byte. Pure: it does no I/O.
 */
export class NativeResponseStream {
  readonly progress: ResponseProgress;
  readonly shortcut: ResponseShortcut;
  /** Its count is the number of the last event. */
  readonly #deltas: DeltaSource;
  readonly #context: NativeResponseContext;
  /** The items of which deltas have come, by their index. */
  readonly #grown = new Set<unknown>();
  readonly #items = new PartCount();
  /** As the client has read it. */
  #createdAt: unknown;
  /** The event that ends the stream: the client gets it when the call is settled, and the response kept. */
  #last: FramedEvent | undefined;

  constructor(context: NativeResponseContext) {
    this.#context = context;
    this.progress = new ResponseProgress(context);
    this.#deltas = new DeltaSource(this.progress);
    this.shortcut = new ResponseShortcut(this.#deltas, (event, out) => this.#readLong(event, out));
  }

  /** The client's final response as JSON; `undefined` before the end. */
  get response(): Uint8Array | undefined {
    return this.#last && responseIn(this.#last.json);
  }

  /**
   * @returns the bytes for the client; `undefined` when there are none.
   * @throws StreamFault, or GatewayError for an error that the upstream sent.
   */
  event({ data, event: name }: ServerSentEvent): Uint8Array | undefined {
    const text = data.trim();
    if (this.progress.isComplete || text === "" || text === "[DONE]") return undefined;
    const event = parse(text);
    this.#refuseErrors(event, name);
    const { type, response } = event;
    if (lastEvents.has(type) && !isRecord(response)) throw new StreamFault("garbage");
    const json = repairEvent(event) ? JSON.stringify(event) : text.includes("\n") ? text.replaceAll("\n", " ") : text;
    const title = name ?? (typeof type === "string" && !/[\r\n]/.test(type) ? type : undefined);
    const head = title === undefined ? "data: " : `event: ${title}\ndata: `;
    const edits = this.#read(event);
    if (edits === undefined) return Buffer.from(`${head}${json}\n\n`);
    const framed = framedWith(edits, Buffer.from(head), Buffer.from(json));
    if (!this.progress.isComplete) return framed.bytes;
    this.#last = framed;
    return undefined;
  }

  /**
   * Reads a long event as {@link event} does, without its long texts.
   * @returns `false` where all of it has to be read: then nothing was done.
   */
  #readLong({ name, bytes, jsonStart, outline }: LongEvent, out: ByteWriter): boolean {
    const event = outline.json;
    // The first event is read in full: what stands before it has a meaning there alone.
    const isBegun = this.progress.responseId !== undefined && !this.progress.isComplete;
    if (!isBegun || !isRecord(event) || this.#needsAll(event, name) || lacksWhatIsRead(outline)) return false;
    const edits = this.#read(event);
    if (edits === undefined) {
      out.writeFrom(bytes, 0, bytes.length);
      return true;
    }
    const framed = framedWith(edits, bytes.subarray(0, jsonStart), asBuffer(outline.bytes), outline.skips);
    if (this.progress.isComplete) this.#last = framed;
    else out.write(framed.bytes);
    return true;
  }

  /** Whether long texts of an event matter, or it is refused. */
  #needsAll(event: Record<string, unknown>, name: string): boolean {
    const { type, delta, item, response, output_index: index } = event;
    if (typeof delta === "string" || isError(event, name) || failureIn(event) !== undefined) return true;
    if (repairEvent(event)) return true;
    if (lastEvents.has(type)) return !isRecord(response) || !this.progress.hasOutput;
    return isRecord(item) && !(type === "response.output_item.done" && this.#grown.has(index));
  }

  /**
   * The upstream's stream has ended.
   * @returns the event that ends the client's stream.
   * @throws StreamFault `incomplete`
   */
  end(): Uint8Array {
    if (this.#last === undefined) throw new StreamFault("incomplete");
    return this.#last.bytes;
  }

  /** The end of a stream that fails: the least response that clients can read, and the error. */
  fault(error: GatewayError): Uint8Array {
    const createdAt = this.#createdAt ?? this.#context.createdAt;
    return failedStream(error, { ...this.#context, createdAt }, this.#deltas.count);
  }

  /** Before `response.created`, some clients accept no event. It repeats the sequence number of the event before it, so that the upstream's numbers still follow. */
  keepAlive(): Uint8Array {
    return this.#deltas.count < 0 ? keepAliveComment : frameEvents([keepAliveEvent(this.#deltas.count)]);
  }

  #refuseErrors(event: Record<string, unknown>, name: string | undefined): void {
    const { error, response } = event;
    if (isError(event, name)) throw fromErrorObject(isRecord(error) ? error : event, this.#context);
    const failure = failureIn(event);
    if (failure === undefined) return;
    if (isRecord(response)) this.progress.responseCame(response);
    throw fromErrorObject(failure, this.#context);
  }

  /** @returns what is to change in the event's response; `undefined`: it has none. */
  #read(event: Record<string, unknown>): MemberEdits | undefined {
    const { type, response, sequence_number: number } = event;
    const edits = isRecord(response) ? this.#readResponse(type, response) : undefined;
    if (edits === undefined) this.#readProgress(event);
    this.#deltas.count = Number.isSafeInteger(number) ? (number as number) : this.#deltas.count + 1;
    return edits;
  }

  #readResponse(type: unknown, response: Record<string, unknown>): MemberEdits {
    this.#createdAt ??= response["created_at"];
    this.progress.responseId = this.#context.responseId;
    if (!lastEvents.has(type)) return eventEdits(response, this.#context);
    const { output } = response;
    const isNew = !this.progress.hasOutput && Array.isArray(output);
    this.progress.responseCame(response);
    this.progress.finishReason = finishOfResponse(
      type === "response.incomplete" ? { ...response, status: "incomplete" } : response,
    );
    this.progress.endCame(isNew ? itemText(output) : "");
    return eventEdits(response, this.#context, this.progress.tokens);
  }

  #readProgress(event: Record<string, unknown>): void {
    const { type, delta, item, output_index: index } = event;
    if (typeof delta === "string") {
      this.#grew(index, delta);
      if (typeof type === "string" && type.startsWith("response.reasoning")) this.progress.reasoningCame();
    } else if (isRecord(item)) {
      if (item["type"] === "reasoning") this.progress.reasoningCame();
      this.progress.itemGrew();
      if (type === "response.output_item.added") this.#items.add(item["type"]);
      if (type !== "response.output_item.done") return;
      // Some upstreams send no deltas.
      this.#grew(index, this.#grown.has(index) ? "" : itemText(item));
      this.progress.itemEnded();
    }
  }

  #grew(index: unknown, text: string): void {
    if (this.#grown.size === mostResponseParts && !this.#grown.has(index)) throw new StreamFault("garbage");
    this.#grown.add(index);
    this.progress.itemGrew();
    this.progress.outputCame(text);
  }
}

function isError({ type, error }: Record<string, unknown>, name: string | undefined): boolean {
  return type === "error" || name === "error" || (type === undefined && isRecord(error));
}

/** The error of a response that has failed. */
function failureIn({ type, response }: Record<string, unknown>): unknown {
  const failure = isRecord(response) ? failureOf(response) : undefined;
  const hasFailed = type === "response.failed" || type === "response.cancelled";
  return hasFailed ? (failure ?? { message: "", code: "server_error" }) : failure;
}

interface FramedEvent {
  readonly bytes: Buffer;
  readonly json: Buffer;
}

/** An event with its response changed. @param head - what stands before its JSON. */
function framedWith(edits: MemberEdits, head: Uint8Array, json: Buffer, skips?: Skips): FramedEvent {
  const out = new ByteWriter(head.length + json.length + spareBytes);
  out.write(head);
  writeEvent(out, json, edits, skips);
  out.write(eventEnd);
  const bytes = out.finish();
  return { bytes, json: bytes.subarray(head.length, -eventEnd.length) };
}

/** What an event may grow by. */
const spareBytes = 512;

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The text is not JSON, so it is no event.
  }
  throw new StreamFault("garbage");
}

/** What a response that failed is written with. */
interface FailedResponse
  extends Pick<NativeResponseContext, "model" | "responseId" | "previousResponseId" | "isStored"> {
  /** As the client has read it, if it has. */
  readonly createdAt: unknown;
}

/**
 * The end of a stream that fails: the least response that clients can read, and the error.
 * @param count - the number of the last event; -1: the client has got comments only.
 */
function failedStream(error: GatewayError, failed: FailedResponse, count: number): Buffer {
  const { model, responseId, createdAt, previousResponseId = null, isStored } = failed;
  const response = {
    id: responseId,
    object: "response",
    created_at: createdAt,
    model,
    output: [],
    incomplete_details: null,
    previous_response_id: previousResponseId,
    store: isStored,
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    usage: null,
  };
  const begun = count < 0 ? beginningOf(response) : [];
  return frameEvents([...begun, ...failureEvents(error, response, count + 1 + begun.length)]);
}

/** Some clients require `response.created` first. */
function beginningOf(response: Readonly<Record<string, unknown>>): ResponseEvent[] {
  const begun = { ...response, status: "in_progress", error: null };
  return ["response.created", "response.in_progress"].map((type, index) => ({
    type,
    sequence_number: index,
    response: begun,
  }));
}

const openBrace = 0x7b;

/** Writes the JSON of an event with its response changed. */
function writeEvent(out: MemberWriter, json: Buffer, edits: MemberEdits, skips = noSkips): void {
  let from = 0;
  for (const { start, end } of edits.size === 0 ? [] : responsesIn(json, skips)) {
    out.writeFrom(json, from, start);
    writeEdited(out, json, membersOf(json, start, Number.POSITIVE_INFINITY, skips), edits);
    from = end;
  }
  out.writeFrom(json, from, json.length);
}

function responsesIn(json: Uint8Array, skips: Skips): JsonMember[] {
  return membersOf(json, 0, Number.POSITIVE_INFINITY, skips).filter(
    ({ name, start }) => name === "response" && json[start] === openBrace,
  );
}

/** The response in the JSON of an event. */
function responseIn(json: Uint8Array): Uint8Array | undefined {
  const member = responsesIn(json, noSkips).at(-1);
  return member && json.subarray(member.start, member.end);
}

/** What the gateway reads of a response in an event, beside its output. */
const read: ReadonlySet<string> = new Set([
  ...["id", "model", "store", "previous_response_id", "usage"],
  ...["created_at", "status", "incomplete_details", "error"],
]);

/** Whether a text is left out of an event's response that the gateway reads. */
function lacksWhatIsRead({ bytes, gaps, skips }: ReceivedResponse): boolean {
  const isMissing = ({ name, start, end }: JsonMember) =>
    read.has(name) && gaps.some((gap) => gap >= start && gap < end);
  return responsesIn(bytes, skips).some(({ start }) =>
    membersOf(bytes, start, Number.POSITIVE_INFINITY, skips).some(isMissing),
  );
}
