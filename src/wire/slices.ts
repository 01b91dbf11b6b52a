import { Buffer } from "node:buffer";
import { afterTurn, isIsolate } from "../runtime/runtime.js";
import { ByteWriter } from "./bytes.js";

/** Work on a text that can be interrupted: other work runs between its slices. */
export interface SlicedWork {
  /** How far the text was read. */
  readonly position: number;
  /**
   * Reads on to `stop`, or somewhat further.
   * @returns whether that is all.
   */
  run(stop: number): boolean;
}

/** What is read in one go, in bytes: a few milliseconds even of the densest JSON. */
export const sliceBytes = 256 * 1024;

/** Work that lets go at the end of each slice. Whoever runs it decides whether others have their turn there. */
export type Steps<Result> = Generator<void, Result, void>;

/** The work as steps. */
export function* slicesOf(work: SlicedWork): Steps<void> {
  while (!work.run(work.position + sliceBytes)) yield;
}

/** Does all steps in one go. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Does the steps, one in each turn of the event loop. One turn does one step, however many works wait. */
export async function stepInTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    await nextSlice();
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Does the steps at once where there is little to do, and else in turns. @param bytes - about how much there is to do. */
export function bySize<Result>(bytes: number, steps: Steps<Result>): Result | Promise<Result> {
  return bytes > sliceBytes ? stepInTurns(steps) : atOnce(steps);
}

/** Counts what steps have done, to tell when a slice is complete. */
export class SliceCount {
  #left = sliceBytes;

  /**
   * So many bytes were read or written. What is done for a value costs, too, however short it is: see {@link valueBytes}.
   * @returns whether to let go.
   */
  isFull(bytes: number): boolean {
    this.#left -= bytes;
    if (this.#left > 0) return false;
    this.#left = sliceBytes;
    return true;
  }
}

/** What a value costs by itself, in bytes that are read in the same time. */
export const valueBytes = 32;

/**
 * The works that wait for a turn of this thread's event loop. It is the thread's, not a gateway's: two gateways with a
 * queue each would do two slices in one turn. In an isolate each work waits by a timer of its own.
 */
const waiting: (() => void)[] = [];

/** Resolves when it is the turn of one more slice, behind all others that wait. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    if (isIsolate) {
      afterTurn(resolve);
      return;
    }
    waiting.push(resolve);
    if (waiting.length === 1) afterTurn(giveTurn);
  });
}

/** A callback that is set up here runs after everything that has happened meanwhile. */
function giveTurn(): void {
  const resolve = waiting.shift();
  if (waiting.length > 0) afterTurn(giveTurn);
  resolve?.();
}

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
