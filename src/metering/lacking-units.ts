import type { CountedUnit, UsageCounts } from "./usage-counts.js";

/**
 * What a price is for and nobody has counted is not free: so much of it is charged as the call can use at the most. So are
 * the tokens of audio in a prompt, of which no sound has none.
 * @returns the same counts where nothing lacks.
 */
export function withLackingUnits(used: UsageCounts, units: readonly CountedUnit[], most: UsageCounts): UsageCounts {
  const lacking = units.filter((unit) => used[unit] === undefined && most[unit] !== undefined);
  const inputAudio = used.inputAudio ? 0 : Math.min(most.inputAudio ?? 0, used.input);
  if (lacking.length === 0 && inputAudio === 0) return used;
  return {
    ...used,
    ...(inputAudio > 0 && { inputAudio }),
    ...Object.fromEntries(lacking.map((unit) => [unit, most[unit]])),
  };
}
