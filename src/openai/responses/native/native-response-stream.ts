import { Buffer } from "node:buffer";
import type { GatewayError } from "../../../errors/gateway-error.js";
import { StreamFault } from "../../../errors/stream-fault.js";
import { keepAliveComment } from "../../../wire/event-frame.js";
import type { ServerSentEvent } from "../../../wire/event-reader.js";
import { isRecord } from "../../../wire/is-record.js";
import { membersOf } from "../../../wire/json-members.js";
import { TemplateShortcut } from "../../../wire/templates/template-shortcut.js";
import { mostAnswerParts, PartCount } from "../../answer-bounds.js";
import { fromErrorObject } from "../../upstream-errors/upstream-failure.js";
import { failureEvents, frameEvents, keepAliveEvent, type ResponseEvent } from "../response-events.js";
import { ResponseProgress } from "../response-progress.js";
import { DeltaSource } from "./delta-source.js";
import { finishOfResponse } from "./finish-of-response.js";
import { itemText } from "./item-text.js";
import { editResponseEvent, failureOf, type NativeResponseContext } from "./native-response.js";

/** The events that end a stream without an error. */
const lastEvents: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete"]);

/**
 * Converts the events of an upstream's own response stream for the client: own id, own model name, usage always
 * present. All other events stay byte for byte. Pure: it does no I/O.
 */
export class NativeResponseStream {
  readonly progress: ResponseProgress;
  readonly shortcut: TemplateShortcut;
  /** Its count is the number of the last event. */
  readonly #deltas: DeltaSource;
  readonly #context: NativeResponseContext;
  /** The items of which deltas have come, by their index. */
  readonly #grown = new Set<unknown>();
  readonly #items = new PartCount();
  /** As the client has read it. */
  #createdAt: unknown;
  #response: Uint8Array | undefined;
  /** The event that ends the stream: the client gets it when the call is settled, and the response kept. */
  #last: Uint8Array = new Uint8Array();

  constructor(context: NativeResponseContext) {
    this.#context = context;
    this.progress = new ResponseProgress(context);
    this.#deltas = new DeltaSource(this.progress);
    this.shortcut = new TemplateShortcut(this.#deltas);
  }

  /** The client's final response as JSON; `undefined` before the end. */
  get response(): Uint8Array | undefined {
    return this.#response;
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
    const json = text.includes("\n") ? text.replaceAll("\n", " ") : text;
    const { type, response } = event;
    if (lastEvents.has(type) && !isRecord(response)) throw new StreamFault("garbage");
    const title = name ?? (typeof type === "string" && !/[\r\n]/.test(type) ? type : undefined);
    const head = title === undefined ? "data: " : `event: ${title}\ndata: `;
    if (!isRecord(response)) {
      this.#readProgress(event);
      this.#readSequenceNumber(event);
      return Buffer.from(`${head}${json}\n\n`);
    }
    const framed = Buffer.concat([Buffer.from(head), this.#readResponse(type, response, Buffer.from(json)), eventEnd]);
    this.#readSequenceNumber(event);
    if (!this.progress.isComplete) return framed;
    this.#last = framed;
    return undefined;
  }

  /**
   * The upstream's stream has ended.
   * @returns the event that ends the client's stream.
   * @throws StreamFault `incomplete`
   */
  end(): Uint8Array {
    if (!this.progress.isComplete) throw new StreamFault("incomplete");
    return this.#last;
  }

  /** The end of a stream that fails: the least response that clients can read, and the error. */
  fault(error: GatewayError): Uint8Array {
    const { model, responseId, createdAt, previousResponseId = null, isStored } = this.#context;
    const response = {
      id: responseId,
      object: "response",
      created_at: this.#createdAt ?? createdAt,
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
    const begun = this.#deltas.count < 0 ? beginningOf(response) : [];
    return frameEvents([...begun, ...failureEvents(error, response, this.#deltas.count + 1 + begun.length)]);
  }

  /** Before `response.created`, some clients accept no event. It repeats the sequence number of the event before it, so that the upstream's numbers still follow. */
  keepAlive(): Uint8Array {
    return this.#deltas.count < 0 ? keepAliveComment : frameEvents([keepAliveEvent(this.#deltas.count)]);
  }

  #refuseErrors(event: Record<string, unknown>, name: string | undefined): void {
    const { type, error, response } = event;
    if (type === "error" || name === "error" || (type === undefined && isRecord(error))) {
      throw fromErrorObject(isRecord(error) ? error : event, this.#context);
    }
    const failed = type === "response.failed" || type === "response.cancelled";
    const failure = isRecord(response) ? failureOf(response) : undefined;
    if (!failed && failure === undefined) return;
    if (isRecord(response)) this.progress.usageCame(response["usage"]);
    throw fromErrorObject(failure ?? { message: "", code: "server_error" }, this.#context);
  }

  #readSequenceNumber({ sequence_number: number }: Record<string, unknown>): void {
    this.#deltas.count = Number.isSafeInteger(number) ? (number as number) : this.#deltas.count + 1;
  }

  #readResponse(type: unknown, response: Record<string, unknown>, json: Uint8Array): Uint8Array {
    this.#createdAt ??= response["created_at"];
    this.progress.responseId = this.#context.responseId;
    if (!lastEvents.has(type)) return editResponseEvent(json, response, this.#context);
    const { output } = response;
    const isNew = !this.progress.hasOutput && Array.isArray(output);
    this.progress.usageCame(response["usage"]);
    this.progress.finishReason = finishOfResponse(
      type === "response.incomplete" ? { ...response, status: "incomplete" } : response,
    );
    this.progress.endCame(isNew ? itemText(output) : "");
    const sent = editResponseEvent(json, response, this.#context, this.progress.tokens);
    const member = membersOf(sent).findLast(({ name }) => name === "response");
    this.#response = member && sent.subarray(member.start, member.end);
    return sent;
  }

  #readProgress(event: Record<string, unknown>): void {
    const { type, delta, item, output_index: index } = event;
    if (typeof delta === "string") {
      this.#grew(index, delta);
      if (typeof type === "string" && type.startsWith("response.reasoning")) this.progress.reasoningCame();
    } else if (isRecord(item)) {
      if (item["type"] === "reasoning") this.progress.reasoningCame();
      this.progress.itemGrew();
      if (type === "response.output_item.added" && this.#items.isTooMany(item["type"]))
        throw new StreamFault("garbage");
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

/** Some clients require `response.created` first. So far the client has got comments only. */
function beginningOf(response: Readonly<Record<string, unknown>>): ResponseEvent[] {
  const begun = { ...response, status: "in_progress", error: null };
  return ["response.created", "response.in_progress"].map((type, index) => ({
    type,
    sequence_number: index,
    response: begun,
  }));
}

const eventEnd = Buffer.from("\n\n");

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // The text is not JSON, so it is no event.
  }
  throw new StreamFault("garbage");
}
