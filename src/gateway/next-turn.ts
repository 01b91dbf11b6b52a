// As they are when the module is loaded: a test of the host's may put others in their place, which stand still.
const { setImmediate, setTimeout } = globalThis;

/** Resolves after the process has attended to its other work. Promises alone would keep it from that. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
