import type { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import type { StreamProgress } from "../../prices/progress.js";
import type { ByteWriter } from "../../wire/bytes.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import type { Outgoing } from "../../wire/slices.js";

/** From an upstream's stream to the client's bytes. Pure and synchronous: what is long is written when the client asks for it. */
export interface StreamCodec {
  readonly progress: StreamProgress;
  /** Its largest event, in bytes, where that is above the gateway's own bound. */
  readonly maxEventBytes?: number;
  /**
   * @returns what the client gets for an event; `undefined`: nothing.
   * @throws StreamFault, or GatewayError for an error that the upstream sent.
   */
  event(event: ServerSentEvent): Outgoing | undefined;
  /**
   * What the client gets where the upstream sent one JSON document in place of events.
   * @throws StreamFault | GatewayError
   */
  whole(body: Uint8Array): Outgoing | undefined;
  /**
   * What ends the client's stream when the upstream's has ended.
   * @throws StreamFault `incomplete`
   */
  end(): Outgoing;
  /** What ends the client's stream when the call failed. */
  fault(error: GatewayError): Uint8Array;
  /** What keeps the client's connection open while the upstream is silent. */
  keepAlive(): Uint8Array;
  /** Whether the client gets no events: it can be told neither that something comes, nor why nothing more does. */
  readonly isBytes?: boolean;
  /** Absent where every event is parsed. */
  readonly shortcut?: EventShortcut;
}

/** From an upstream's stream to a client that wants bytes, such as sound. */
export interface ByteAnswer extends StreamCodec {
  readonly contentType: string;
  /** @returns what the client gets for a piece of a body that is no stream of events. Absent: the body is one. */
  take?(piece: Uint8Array): Uint8Array | undefined;
}

/** Passes runs of alike events without parsing them. The client's bytes are the same with and without it. */
export interface EventShortcut {
  /** The events are too unlike each other: it is not used any more. */
  readonly hasGivenUp: boolean;
  /**
   * Passes on the events that begin at `start`, as many in a row as it knows.
   * @returns where the last one ended; `start` when there was none.
   */
  pass(bytes: Buffer, start: number, out: ByteWriter): number;
  /** Learns from one whole event that was parsed, and from what the client got for it. */
  learn(received: Buffer, sent: Buffer): void;
}
