import { Buffer } from "node:buffer";
import type { GatewayError } from "../../../errors/gateway-error.js";
import { StreamFault } from "../../../errors/stream-fault.js";
import { mostAnswerParts, PartCount } from "../../../model-api/answer/answer-bounds.js";
import { fromErrorObject } from "../../../model-api/failure/upstream-failure.js";
import { asBuffer } from "../../../wire/as-buffer.js";
import { ByteWriter } from "../../../wire/byte-writer.js";
import { eventEnd, keepAliveComment } from "../../../wire/event-frame.js";
import type { ServerSentEvent } from "../../../wire/event-reader.js";
import { isRecord } from "../../../wire/is-record.js";
import type { MemberEdits } from "../../../wire/json-members.js";
import type { Leaps } from "../../../wire/leaps.js";
import { frameEvents, keepAliveEvent } from "../response-events.js";
import { ResponseProgress } from "../response-progress.js";
import { repairEvent } from "./call-texts.js";
import { DeltaSource } from "./delta-source.js";
import { failedStream } from "./failed-stream.js";
import { finishOfResponse } from "./finish-of-response.js";
import { itemText } from "./item-text.js";
import type { LongEvent } from "./long-event.js";
import { eventEdits, failureOf, type NativeResponseContext } from "./native-response.js";
import { lacksWhatIsRead, responseIn, writeEvent } from "./response-in-event.js";
import { ResponseShortcut } from "./response-shortcut.js";

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
    const framed = framedWith(edits, bytes.subarray(0, jsonStart), asBuffer(outline.bytes), outline.leaps);
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
    if (this.#grown.size === mostAnswerParts && !this.#grown.has(index)) throw new StreamFault("garbage");
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
function framedWith(edits: MemberEdits, head: Uint8Array, json: Buffer, leaps?: Leaps): FramedEvent {
  const out = new ByteWriter(head.length + json.length + spareBytes);
  out.write(head);
  writeEvent(out, json, edits, leaps);
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
