import { FirstTimes } from "./first-times.js";
import type { Warn } from "./warning.js";

/** Passes each message on once: a wrong plan causes one warning, not one for each time that the cache reads it. */
export function withoutRepeats(warn: Warn): Warn {
  const messages = new FirstTimes();
  return (warning) => {
    if (messages.isFirst(warning.message)) warn(warning);
  };
}
