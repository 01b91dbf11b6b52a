import { nextPiece, type PieceReader, type PieceSource, readPiece } from "../../wire/pieces/piece-source.js";
import type { Departure } from "../departure.js";
import type { StreamRelay } from "./stream-relay.js";

/** The part of a call that its stream needs. */
interface LeftCall {
  readonly departure: Pick<Departure, "hasLeft"> | undefined;
  clientLeft(): Pick<Departure, "hasLeft"> | undefined;
}

/** A stream as its client gets it. Where the call goes on without its client, the relay is read by the call. */
export class StreamBody implements AsyncIterableIterator<Uint8Array, undefined>, PieceSource {
  readonly isByTick = true;
  readonly #call: LeftCall;
  readonly #relay: StreamRelay;

  constructor(call: LeftCall, relay: StreamRelay) {
    this.#call = call;
    this.#relay = relay;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [readPiece](reader: PieceReader): void {
    if (this.#call.departure?.hasLeft === true) reader.ended();
    else this.#relay[readPiece](reader);
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    return nextPiece(this);
  }

  /** The client has left, or has all of the stream. */
  leave(): void {
    if (this.#call.clientLeft()?.hasLeft !== true) this.#relay.leave();
  }

  /** Resolves when the call is settled, unless it goes on. */
  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#call.clientLeft()?.hasLeft !== true) await this.#relay.return();
    return { done: true, value: undefined };
  }
}
