// Read when the module is loaded: a host's tests may replace the timers later by fake ones.
const { setImmediate, setTimeout } = globalThis;

/** Resolves in the next turn of the event loop, after other work. A promise alone would resolve in the same turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
