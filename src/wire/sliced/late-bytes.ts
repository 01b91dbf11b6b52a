import { Buffer } from "node:buffer";
import { ByteWriter } from "../byte-writer.js";
import { type Steps, sliceBytes } from "../slices.js";

/** Bytes that are written when they are asked for, part by part: their text is held, but no copy of it. */
export class LateBytes {
  readonly #parts: Iterator<Uint8Array, void>;

  constructor(parts: Iterator<Uint8Array, void>) {
    this.#parts = parts;
  }

  /** The next part; `undefined` behind the last one. */
  next(): Uint8Array | undefined {
    const { done, value } = this.#parts.next();
    return done ? undefined : value;
  }
}

/** Bytes for a client, or what writes them. */
export type Outgoing = Uint8Array | LateBytes;

/** What steps write, each time that they let go. @param write - begins to write to the writer that it is given. */
export function lateBytes(write: (out: ByteWriter) => Steps<void>): LateBytes {
  return new LateBytes(partsOf(write));
}

function* partsOf(write: (out: ByteWriter) => Steps<void>): Generator<Uint8Array, void> {
  const out = new ByteWriter(sliceBytes + spareBytes);
  for (const _ of write(out)) if (out.length > 0) yield out.take();
  if (out.length > 0) yield out.finish();
}

/** What is written beyond a slice before it is seen to be full. */
const spareBytes = 64 * 1024 * 3;

/** Some bytes behind others. */
export function joinOutgoing(pieces: readonly Outgoing[]): Outgoing | undefined {
  const [first] = pieces;
  if (pieces.length <= 1) return first;
  const present = pieces.filter((piece) => piece instanceof Uint8Array);
  return present.length === pieces.length ? Buffer.concat(present) : new LateBytes(chained(pieces));
}

function* chained(pieces: readonly Outgoing[]): Generator<Uint8Array, void> {
  for (const piece of pieces) {
    if (piece instanceof Uint8Array) yield piece;
    else for (let part = piece.next(); part !== undefined; part = piece.next()) yield part;
  }
}

/** All of the bytes at once, for whoever needs them so. */
export function wholeOutgoing(outgoing: Outgoing): Uint8Array {
  return outgoing instanceof Uint8Array ? outgoing : Buffer.concat([...chained([outgoing])]);
}
