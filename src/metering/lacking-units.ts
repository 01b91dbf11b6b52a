import type { CountedUnit, UsageCounts } from "./usage-counts.js";

/**
 * What a price is for and nobody has counted is not free: so much of it is charged as the call can use at the most. So are
 * the tokens of audio in a prompt, of which no sound has none, and in an answer that nobody has counted.
 * @param isEstimated - the answer's tokens are an estimate.
 * @returns the same counts where nothing lacks.
 */
export function withLackingUnits(
  used: UsageCounts,
  units: readonly CountedUnit[],
  most: UsageCounts,
  isEstimated = false,
): UsageCounts {
  const lacking = units.filter((unit) => used[unit] === undefined && most[unit] !== undefined);
  const inputAudio = used.inputAudio ? 0 : Math.min(most.inputAudio ?? 0, used.input);
  const outputAudio = isEstimated && !used.outputAudio ? Math.min(most.outputAudio ?? 0, used.output) : 0;
  if (lacking.length === 0 && inputAudio === 0 && outputAudio === 0) return used;
  return {
    ...used,
    ...(inputAudio > 0 && { inputAudio }),
    ...(outputAudio > 0 && { outputAudio }),
    ...Object.fromEntries(lacking.map((unit) => [unit, most[unit]])),
  };
}
