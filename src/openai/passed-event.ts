import { Buffer } from "node:buffer";
import { StreamFault } from "../errors/stream-fault.js";
import { editAnswer } from "../model-api/answer/edit-answer.js";
import { ReceivedAnswer } from "../model-api/answer/received-answer.js";
import { visibleUsage } from "../model-api/answer/usage.js";
import { fromErrorObject, type UpstreamFailureContext } from "../model-api/failure/upstream-failure.js";
import { eventEnd } from "../wire/event-frame.js";
import type { ServerSentEvent } from "../wire/event-reader.js";
import { isRecord } from "../wire/is-record.js";

/** An event of an upstream that its client gets as it came. Its long texts are not parsed. */
export class PassedEvent {
  /** Without its long texts. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly received: ReceivedAnswer;
  readonly #frame: Buffer;
  readonly #event: string | undefined;
  readonly #start: string;

  /** @throws StreamFault, or GatewayError for an error that the upstream sent. */
  constructor({ data, event }: ServerSentEvent, context: UpstreamFailureContext) {
    this.#event = event;
    this.#start = event === undefined ? "data: " : `event: ${event}\ndata: `;
    this.#frame = Buffer.from(`${this.#start}${data.includes("\n") ? data.replaceAll("\n", " ") : data}\n\n`);
    const whole = new ReceivedAnswer(this.#frame.subarray(Buffer.byteLength(this.#start), -eventEnd.length));
    this.received = whole.outline() ?? whole;
    const { json } = this.received;
    if (event === "error" && !isRecord(json)) throw fromErrorObject(json, context);
    if (!isRecord(json)) throw new StreamFault("garbage");
    const error = json["error"] ?? (event === "error" || json["type"] === "error" ? json : undefined);
    if (error !== undefined) throw fromErrorObject(error, context, json["usage"]);
    this.json = json;
  }

  /** Where the event does not say it, its name does. */
  get type(): unknown {
    return this.json["type"] ?? this.#event;
  }

  /** With its long texts. */
  get whole(): Readonly<Record<string, unknown>> {
    return this.received.gaps.length === 0 ? this.json : JSON.parse(this.received.text);
  }

  /** What the client gets: the same, but for usage that it must not see. */
  bytes({ dialect }: UpstreamFailureContext): Buffer {
    const { usage } = this.json;
    const visible = visibleUsage(usage, dialect);
    if (visible === usage) return this.#frame;
    const edits = new Map([["usage", visible === undefined ? null : JSON.stringify(visible)]]);
    const edited = editAnswer(this.received, edits);
    return Buffer.concat([
      Buffer.from(this.#start),
      typeof edited === "string" ? Buffer.from(edited) : edited,
      eventEnd,
    ]);
  }
}

/** What ends some streams. It is passed on where it comes. */
export const doneEvent: Uint8Array = Buffer.from("data: [DONE]\n\n");
