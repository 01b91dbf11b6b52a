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
export async function inTurns(work: SlicedWork): Promise<void> {
  do await nextTurn();
  while (!work.run(work.position + sliceBytes));
}

/** Counts what some work has done, so that others have their turn after each slice of it. */
export class Turns {
  #left = sliceBytes;

  /**
   * So many bytes were read or written. What is done for a value costs, too, however short it is: see {@link valueBytes}.
   * @returns what to wait for before going on; `undefined`: the slice is not used up.
   */
  spend(bytes: number): Promise<void> | undefined {
    this.#left -= bytes;
    if (this.#left > 0) return undefined;
    this.#left = sliceBytes;
    return nextTurn();
  }
}

/** What a value costs by itself, in bytes that are read in the same time. */
export const valueBytes = 32;

/** The works that wait for a turn of this thread's event loop. All gateways in the thread share it. */
const waiting: (() => void)[] = [];

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) soon(giveTurn);
  });
}

/** A callback that is set up here runs after everything that has happened meanwhile. */
function giveTurn(): void {
  const resolve = waiting.shift();
  if (waiting.length > 0) soon(giveTurn);
  resolve?.();
}

/** Not every runtime has `setImmediate`. */
function soon(callback: () => void): void {
  if (typeof setImmediate === "function") setImmediate(callback);
  else setTimeout(callback, 0);
}
