import { Buffer } from "node:buffer";
import { asBuffer } from "./bytes.js";

const nothing = Buffer.alloc(0);

/** Bytes in pieces, read as if they were in one. Only what begins in one piece and ends in another is copied. */
export class PiecedBytes {
  readonly pieces: readonly Buffer[];
  readonly length: number;
  /** Where each piece begins. */
  readonly #starts: readonly number[];

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces.map(asBuffer);
    let length = 0;
    this.#starts = pieces.map((piece) => {
      const start = length;
      length += piece.length;
      return start;
    });
    this.length = length;
  }

  /** All of it in one piece: a copy, if there are several. */
  get whole(): Buffer {
    return this.part(0, this.length);
  }

  /** What there is of the bytes from `start` to before `end`, in one piece. */
  part(start: number, end: number): Buffer {
    const parts = this.slices(start, end);
    const [only = nothing] = parts;
    return parts.length > 1 ? Buffer.concat(parts) : only;
  }

  /** The same, in the pieces in which it is. */
  slices(start: number, end: number): readonly Buffer[] {
    const slices: Buffer[] = [];
    for (let index = this.#indexOfPiece(start); index < this.pieces.length; index++) {
      const [piece = nothing, at = 0] = [this.pieces[index], this.#starts[index]];
      if (at >= end) break;
      const slice = piece.subarray(Math.max(start - at, 0), end - at);
      if (slice.length > 0) slices.push(slice);
    }
    return slices;
  }

  /** @returns where `sought` begins first, if all of it is in the bytes from `start` to before `end`; else -1. */
  indexOf(sought: Buffer, start: number, end: number): number {
    for (let index = this.#indexOfPiece(start); index < this.pieces.length; index++) {
      const [piece = nothing, at = 0] = [this.pieces[index], this.#starts[index]];
      if (at >= end) break;
      const from = Math.max(start - at, 0);
      const inside = piece.subarray(from, end - at).indexOf(sought);
      if (inside >= 0) return at + from + inside;
      const border = at + piece.length;
      const first = Math.max(at + from, border - sought.length + 1);
      const across = this.part(first, Math.min(border + sought.length - 1, end)).indexOf(sought);
      if (across >= 0) return first + across;
    }
    return -1;
  }

  /** @returns the place of the piece that the byte at `position` is in. */
  #indexOfPiece(position: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
