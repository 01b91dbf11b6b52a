// Read when the module is loaded: a host's tests may replace the timers later by fake ones.
const { setImmediate, setTimeout } = globalThis;

/** Calls back in the next turn of the event loop, after other work. Not every runtime has `setImmediate`. */
export function afterTurn(callback: () => void): void {
  if (typeof setImmediate === "function") setImmediate(callback);
  else setTimeout(callback, 0);
}
