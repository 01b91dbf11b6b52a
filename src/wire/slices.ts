/** Work on a text that can be interrupted: others can be let in between its slices. */
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

/** Does the work slice by slice; one turn of the event loop does one slice, however much work waits for its turn. */
export async function inTurns(work: SlicedWork): Promise<void> {
  do await nextTurn();
  while (!work.run(work.position + sliceBytes));
}

/** Who waits for a turn of this thread's event loop, which all gateways in it share. */
const waiting: (() => void)[] = [];

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) soon(giveTurn);
  });
}

/** What is set up here comes only after everything else that has happened meanwhile. */
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
