import { afterTurn } from "../runtime/after-turn.js";
import { isIsolate } from "../runtime/isolate.js";

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

/** Does the work slice by slice. One turn of the event loop does one slice, however many works wait. */
export function inTurns(work: SlicedWork): Promise<void> {
  return stepInTurns(slicesOf(work));
}

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

/** Does the steps, one in each turn of the event loop. */
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
 * The works that wait for a turn of this thread's event loop. All gateways in the thread share it, but for those of an
 * isolate: there each work waits by a timer of its own.
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
