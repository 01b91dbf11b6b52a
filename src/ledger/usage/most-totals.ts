import { LedgerInputError } from "../credit-ledger.js";

/** So many sums are made at the most: they are all in memory at once. */
export const mostTotals = 100_000;

export function tooManyTotals(): LedgerInputError {
  return new LedgerInputError(
    `There are more than ${mostTotals} sums. Ask for a shorter time, for fewer things in \`by\`, or for less by \`where\`.`,
  );
}
