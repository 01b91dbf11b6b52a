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
