import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { StreamProgress } from "../../metering/progress.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { eventEnd, eventStart } from "../../wire/event-frame.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { type Outgoing, wholeOutgoing } from "../../wire/sliced/late-bytes.js";
import type { EventShortcut, StreamCodec } from "../stream-codec.js";
import { type CostOf, eventWithCost } from "./usage-cost.js";

/** A stream that says in its last usage what it costs. */
export class CostedCodec implements StreamCodec {
  /** What it passes has no usage. */
  readonly shortcut?: EventShortcut;
  readonly maxEventBytes?: number;
  readonly #codec: StreamCodec;
  readonly #costOf: CostOf;

  constructor(codec: StreamCodec, costOf: CostOf) {
    if (codec.shortcut !== undefined) this.shortcut = codec.shortcut;
    if (codec.maxEventBytes !== undefined) this.maxEventBytes = codec.maxEventBytes;
    this.#codec = codec;
    this.#costOf = costOf;
  }

  get progress(): StreamProgress {
    return this.#codec.progress;
  }

  event(event: ServerSentEvent): Outgoing | undefined {
    return this.#withCost(this.#codec.event(event));
  }

  whole(body: Uint8Array): Outgoing | undefined {
    return this.#withCost(this.#codec.whole(body));
  }

  end(): Outgoing {
    return this.#withCost(this.#codec.end()) ?? new Uint8Array();
  }

  fault(error: GatewayError): Uint8Array {
    return this.#codec.fault(error);
  }

  keepAlive(): Uint8Array {
    return this.#codec.keepAlive();
  }

  /** Before all of the response has come, nobody knows what it costs. */
  #withCost(sent: Outgoing | undefined): Outgoing | undefined {
    if (sent === undefined || !this.progress.isComplete) return sent;
    const bytes = asBuffer(wholeOutgoing(sent));
    if (!bytes.includes(usageName)) return bytes;
    const credits = this.#costOf(this.progress.tokens);
    const pieces: Uint8Array[] = [];
    for (let start = 0; start < bytes.length; ) {
      const found = bytes.indexOf(eventEnd, start);
      const end = found < 0 ? bytes.length : found;
      const data = bytes.subarray(start, end).indexOf(eventStart);
      const json = bytes.subarray(data < 0 ? end : start + data + eventStart.length, end);
      pieces.push(bytes.subarray(start, end - json.length));
      pieces.push(json.includes(usageName) ? eventWithCost(json, credits) : json);
      start = found < 0 ? end : found + eventEnd.length;
      pieces.push(bytes.subarray(end, start));
    }
    return Buffer.concat(pieces);
  }
}

const usageName = Buffer.from('"usage"');
