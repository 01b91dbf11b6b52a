import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { StreamFault } from "../chat/chat-stream.js";
import { editResponseEvent, estimated, failureOf, type NativeResponseContext, outputBytes } from "./native-response.js";
import { failureEvents, frameEvents, keepAliveComment, keepAliveEvent } from "./response-events.js";
import { readResponsesUsage } from "./responses-usage.js";

/** What has been seen of a streamed response so far. */
export interface ResponseProgress {
  /** Tokens so far; estimated where {@link isReported} is `false`. */
  readonly usage: TokenCounts;
  readonly isReported: boolean;
  /** Some of the response itself has come: text, a call, or its end. */
  readonly hasOutput: boolean;
  /** The model has shown reasoning, or the upstream has counted some. */
  readonly reasons: boolean;
  /** The response has come to its end. */
  readonly isComplete: boolean;
  /** Nothing that comes after it counts. */
  readonly isDone: boolean;
  /** Bytes of model output. */
  readonly outputBytes: number;
}

/** The events that end a stream well. */
const lastEvents: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete"]);

/** Far more than any response has. */
const mostItems = 16_384;

/**
 * Turns the events of an upstream's own response stream, one by one, into what the client gets: own id, own model name,
 * usage always there. All other events stay byte for byte. Pure: it reads and writes nothing.
 */
export class NativeResponseStream {
  readonly #context: NativeResponseContext;
  /** Bytes of deltas by the index of their item. */
  readonly #deltaBytes = new Map<unknown, number>();
  #outputBytes = 0;
  #hasOutput = false;
  #reasons = false;
  #isComplete = false;
  #reported: TokenCounts | undefined;
  #sequenceNumber = -1;

  constructor(context: NativeResponseContext) {
    this.#context = context;
  }

  get progress(): ResponseProgress {
    const reported = this.#reported;
    return {
      usage: reported ?? estimated(this.#context.promptTokens, this.#outputBytes),
      isReported: reported !== undefined,
      hasOutput: this.#hasOutput,
      reasons: this.#reasons || (reported?.reasoning ?? 0) > 0,
      isComplete: this.#isComplete,
      isDone: this.#isComplete,
      outputBytes: this.#outputBytes,
    };
  }

  /**
   * @returns what the client gets for the event, or `undefined` when that is nothing.
   * @throws StreamFault
   */
  event({ data, event: name }: ServerSentEvent): Uint8Array | undefined {
    const text = data.trim();
    if (this.#isComplete || text === "" || text === "[DONE]") return undefined;
    const event = parse(text);
    this.#refuseErrors(event, name);
    this.#readSequenceNumber(event);
    const json = Buffer.from(text.includes("\n") ? text.replaceAll("\n", " ") : text);
    const { type, response } = event;
    const sent = isRecord(response) ? this.#readResponse(type, response, json) : this.#readProgress(event, json);
    const title = name ?? (typeof type === "string" && !/[\r\n]/.test(type) ? type : undefined);
    return Buffer.concat([Buffer.from(title === undefined ? "data: " : `event: ${title}\ndata: `), sent, eventEnd]);
  }

  /**
   * The upstream has ended.
   * @throws StreamFault `incomplete`
   */
  end(): Uint8Array {
    if (!this.#isComplete) throw new StreamFault("incomplete");
    return new Uint8Array();
  }

  /** What the client gets where the stream fails: as little of a response as clients can read, and the error. */
  fault(error: GatewayError): Uint8Array {
    const { model, responseId, createdAt, previousResponseId = null, isStored } = this.#context;
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
    return frameEvents(failureEvents(error, response, this.#sequenceNumber + 1));
  }

  /** It repeats the number of the event before it: those of the upstream go on behind it. */
  keepAlive(): Uint8Array {
    return this.#sequenceNumber < 0 ? keepAliveComment : frameEvents([keepAliveEvent(this.#sequenceNumber)]);
  }

  #refuseErrors(event: Record<string, unknown>, name: string | undefined): void {
    const { type, error, response } = event;
    if (type === "error" || name === "error" || (type === undefined && isRecord(error))) {
      throw new StreamFault("error", isRecord(error) ? error : event);
    }
    const failed = type === "response.failed" || type === "response.cancelled";
    const failure = isRecord(response) ? failureOf(response) : undefined;
    if (!failed && failure === undefined) return;
    if (isRecord(response)) this.#reported = readResponsesUsage(response["usage"]);
    throw new StreamFault("error", failure ?? { message: "", code: "server_error" });
  }

  #readSequenceNumber({ sequence_number: number }: Record<string, unknown>): void {
    this.#sequenceNumber = Number.isSafeInteger(number) ? (number as number) : this.#sequenceNumber + 1;
  }

  #readResponse(type: unknown, response: Record<string, unknown>, json: Uint8Array): Uint8Array {
    if (!lastEvents.has(type)) return editResponseEvent(json, response, this.#context);
    this.#reported = readResponsesUsage(response["usage"]);
    this.#isComplete = true;
    this.#hasOutput = true;
    const { output } = response;
    if (this.#outputBytes === 0 && Array.isArray(output)) this.#outputBytes = outputBytes(output);
    return editResponseEvent(json, response, this.#context, this.progress.usage);
  }

  #readProgress(event: Record<string, unknown>, json: Uint8Array): Uint8Array {
    const { type, delta, item, output_index: index } = event;
    if (typeof delta === "string") {
      this.#count(index, Buffer.byteLength(delta));
      if (typeof type === "string" && type.startsWith("response.reasoning")) this.#reasons = true;
    } else if (isRecord(item)) {
      if (item["type"] === "reasoning") this.#reasons = true;
      // Not every upstream sends deltas.
      if (type === "response.output_item.done") {
        this.#count(index, this.#deltaBytes.has(index) ? 0 : outputBytes([item]));
      }
    }
    return json;
  }

  #count(index: unknown, bytes: number): void {
    if (this.#deltaBytes.size === mostItems && !this.#deltaBytes.has(index)) throw new StreamFault("garbage");
    this.#deltaBytes.set(index, (this.#deltaBytes.get(index) ?? 0) + bytes);
    this.#outputBytes += bytes;
    this.#hasOutput = true;
  }
}

const eventEnd = Buffer.from("\n\n");

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // It is none of the events.
  }
  throw new StreamFault("garbage");
}
