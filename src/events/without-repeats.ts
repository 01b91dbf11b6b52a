import type { Warn } from "./warning.js";

/** Passes each message on once: a wrong plan causes one warning, not one for each time that the cache reads it. */
export function withoutRepeats(warn: Warn): Warn {
  const warned = new Set<string>();
  return (warning) => {
    if (warned.has(warning.message) || warned.size >= mostWarned) return;
    warned.add(warning.message);
    warn(warning);
  };
}

const mostWarned = 1000;
