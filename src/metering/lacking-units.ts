import type { CountedUnit, UsageCounts } from "./usage-counts.js";

/**
 * What a price is for and nobody has counted is not free: so much of it is charged as the call can use at the most.
 * @returns the same counts where nothing lacks.
 */
export function withLackingUnits(
  used: UsageCounts,
  units: readonly CountedUnit[],
  most: UsageCounts | undefined,
): UsageCounts {
  const lacking =
    most === undefined ? [] : units.filter((unit) => used[unit] === undefined && most[unit] !== undefined);
  if (lacking.length === 0) return used;
  return { ...used, ...Object.fromEntries(lacking.map((unit) => [unit, most?.[unit]])) };
}
