import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import { StreamFault } from "../../errors/upstream-fault.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { eventEnd, keepAliveComment } from "../../wire/plain-event.js";
import { errorEvent } from "./openai-protocol.js";
import { editResponse, ReceivedResponse } from "./received-response.js";
import { fromErrorObject, type UpstreamFailureContext } from "./upstream-failure.js";
import { visibleUsage } from "./usage-object.js";

/** The part of a stream's progress that tells its end. */
interface EndingProgress {
  readonly isDone: boolean;
  readonly isComplete: boolean;
  doneCame(): void;
}

const nothing = Buffer.alloc(0);

/** Passes an upstream's events to the client as they come. */
export abstract class PassedCodec<Progress extends EndingProgress, Context extends UpstreamFailureContext> {
  readonly progress: Progress;
  protected readonly context: Context;

  constructor(progress: Progress, context: Context) {
    this.progress = progress;
    this.context = context;
  }

  /** @throws StreamFault, or GatewayError for an error that the upstream sent. */
  event({ data, event }: ServerSentEvent): Uint8Array | undefined {
    const text = data.trim();
    if (this.progress.isDone || text === "") return undefined;
    if (text !== "[DONE]") return this.pass(new PassedEvent({ data: text, event }, this.context), text.length);
    this.progress.doneCame();
    // Clients read nothing behind it: not the error of a stream that has not come to its end.
    return this.progress.isComplete ? this.done() : undefined;
  }

  /**
   * What the client gets for an event.
   * @param length - of its data.
   * @returns `undefined` where there is nothing for the client.
   */
  protected abstract pass(event: PassedEvent, length: number): Uint8Array | undefined;

  /** What the client gets for `[DONE]`. */
  protected done(): Uint8Array | undefined {
    return doneEvent;
  }

  /** @throws StreamFault `incomplete` */
  end(): Uint8Array {
    if (!this.progress.isComplete) throw new StreamFault("incomplete");
    return nothing;
  }

  keepAlive(): Uint8Array {
    return keepAliveComment;
  }

  fault(error: GatewayError): Uint8Array {
    return errorEvent(error);
  }
}

/** An event of an upstream that its client gets as it came. Its long texts are not parsed. */
export class PassedEvent {
  /** Without its long texts. */
  readonly json: Readonly<Record<string, unknown>>;
  readonly received: ReceivedResponse;
  readonly #frame: Buffer;
  readonly #event: string | undefined;
  readonly #start: string;

  /** @throws StreamFault, or GatewayError for an error that the upstream sent. */
  constructor({ data, event }: ServerSentEvent, context: UpstreamFailureContext) {
    this.#event = event;
    this.#start = event === undefined ? "data: " : `event: ${event}\ndata: `;
    this.#frame = Buffer.from(`${this.#start}${data.includes("\n") ? data.replaceAll("\n", " ") : data}\n\n`);
    const whole = new ReceivedResponse(this.#frame.subarray(Buffer.byteLength(this.#start), -eventEnd.length));
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
    const edited = editResponse(this.received, edits);
    return Buffer.concat([
      Buffer.from(this.#start),
      typeof edited === "string" ? Buffer.from(edited) : edited,
      eventEnd,
    ]);
  }
}

/** What ends some streams. It is passed on where it comes. */
export const doneEvent: Uint8Array = Buffer.from("data: [DONE]\n\n");
