import type { KeptResponse } from "./response-store.js";

/**
 * A chain as stores read it: from the newest response back, as far as responses are there and no further than was asked.
 * @returns the oldest first; `undefined` where it does not reach its beginning.
 */
export function wholeChain(newestFirst: readonly KeptResponse[]): readonly KeptResponse[] | undefined {
  const oldest = newestFirst.at(-1);
  if (oldest === undefined || oldest.previousResponseId !== undefined) return undefined;
  return newestFirst.toReversed();
}
