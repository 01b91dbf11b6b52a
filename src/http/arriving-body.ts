import { Buffer } from "node:buffer";
import { BodyError, type BodyFailure, type BodyLimits } from "./message.js";

const tickMs = 1000;
/** The speed is judged by what comes in so many ticks, of about a second: a radio link may be silent for some seconds. */
export const ticksPerLook = 10;

/** So many pieces are kept as they come, and longer ones always. */
const fewPieces = 16;
const longPiece = 16 * 1024;
const leastBlock = 4 * 1024;
/** What short buffers are often parts of, in Node. */
const sharedMemory = 8 * 1024;
const largestBlock = 64 * 1024;

/**
 * A request's body on its way: what has come of it, and how long it may take. It counts ticks instead of comparing times:
 * what a blocked event loop has kept this process from reading is not late.
 */
export class ArrivingBody {
  readonly #limits: BodyLimits;
  readonly #failed: (error: BodyError) => void;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #mostTicks: number;
  #ticks = 0;
  #lengthAtLook = 0;
  #length = 0;
  /** `undefined`: it is over. */
  #pieces: Uint8Array[] | undefined = [];
  /** Where short pieces are gathered: kept by themselves, some bytes could take a hundred times their memory. */
  #block: Uint8Array | undefined;
  #filled = 0;

  /** @param failed - called once when the body fails; bytes that come afterwards are not kept. */
  constructor(limits: BodyLimits, failed: (error: BodyError) => void) {
    this.#limits = limits;
    this.#failed = failed;
    this.#mostTicks = Math.ceil(limits.timeoutMs / tickMs);
    this.#timer = setInterval(() => this.#tick(), limits.timeoutMs / this.#mostTicks);
    // Its connection keeps the process alive as long as need be.
    if (typeof this.#timer === "object") this.#timer.unref?.();
  }

  /** Whatever a host's stream brings, it does not throw: nobody would catch it. */
  take(piece: Uint8Array): void {
    if (this.#pieces === undefined) return;
    if (!isBytes(piece)) {
      this.fail("no_bytes", new TypeError("The request's body must be a stream of bytes, as Uint8Array."));
      return;
    }
    this.#length += piece.length;
    const failure = this.#length > this.#limits.maxBytes ? "too_large" : this.#limits.arrived(piece.length);
    if (failure === undefined) this.#keep(piece, this.#pieces);
    else this.fail(failure);
  }

  /** All of it has come. @returns `undefined` when it was over before. */
  end(): Uint8Array | undefined {
    const pieces = this.endInPieces();
    if (pieces === undefined) return undefined;
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces, this.#length);
  }

  /** As {@link end}, without a copy of what is large. */
  endInPieces(): readonly Uint8Array[] | undefined {
    const pieces = this.#pieces;
    if (pieces === undefined) return undefined;
    this.#flush(pieces);
    this.#stop();
    return pieces;
  }

  fail(failure: BodyFailure, cause?: unknown): void {
    if (this.#pieces === undefined) return;
    this.#stop();
    this.#failed(new BodyError(failure, { cause }));
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#pieces = undefined;
    this.#block = undefined;
  }

  #keep(piece: Uint8Array, pieces: Uint8Array[]): void {
    const isKept = piece.length >= longPiece || (pieces.length < fewPieces && this.#filled === 0);
    if (isKept && isAlone(piece)) {
      this.#flush(pieces);
      pieces.push(piece);
      return;
    }
    for (let start = 0; start < piece.length; ) {
      this.#block ??= new Uint8Array(Math.min(Math.max(this.#length, leastBlock), largestBlock));
      const block = this.#block;
      const part = piece.subarray(start, start + block.length - this.#filled);
      block.set(part, this.#filled);
      start += part.length;
      this.#filled += part.length;
      if (this.#filled < block.length) continue;
      pieces.push(block);
      this.#block = undefined;
      this.#filled = 0;
    }
  }

  #flush(pieces: Uint8Array[]): void {
    if (this.#block === undefined || this.#filled === 0) return;
    pieces.push(this.#block.slice(0, this.#filled));
    this.#filled = 0;
  }

  #tick(): void {
    this.#ticks++;
    if (this.#ticks >= this.#mostTicks) this.fail("too_slow");
    else if (this.#ticks % ticksPerLook === 0) this.#look();
  }

  #look(): void {
    const came = this.#length - this.#lengthAtLook;
    this.#lengthAtLook = this.#length;
    if (came < this.#limits.minBytesPerSecond * ticksPerLook) this.fail("too_slow");
  }
}

/** Whether it keeps hardly more memory than it shows: a frame of HTTP/2 is a part of all that was read with it. */
function isAlone(piece: Uint8Array): boolean {
  return piece.buffer.byteLength <= Math.max(2 * piece.length, sharedMemory);
}

/** Also for what another realm has made, such as a sandbox in which the host runs its handlers. */
function isBytes(piece: unknown): boolean {
  return piece instanceof Uint8Array || Object.prototype.toString.call(piece) === "[object Uint8Array]";
}
