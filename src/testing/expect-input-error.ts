import { LedgerInputError } from "../ledger/credit-ledger.js";
import { expect } from "./expect.js";

/** A wrong argument is a rejection, never an exception at the call. */
export async function expectInputError(call: () => Promise<unknown>): Promise<void> {
  const promise = call();
  await expect(promise).rejects.toBeInstanceOf(LedgerInputError);
}
