import type { TotalsRequest } from "./usage-totals.js";

/** The accounts that usage is asked of, each of them once. `undefined`: all that there are. */
export function namedAccounts({ where }: TotalsRequest): readonly string[] | undefined {
  const named = where["account"];
  return named && [...new Set(named)].filter((account) => account !== null);
}
