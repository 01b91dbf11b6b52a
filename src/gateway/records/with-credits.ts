import type { KeptAccount } from "../../accounts/account-store.js";
import { CreditsListing, type CreditsSources } from "./credits-listing.js";
import type { ListedAccount } from "./listed-account.js";

/** So many accounts are read at the same time. */
const readAtOnce = 8;

/** Adds their credits to accounts. Warns of those whose credits could not be read. */
export async function withCredits(
  by: string,
  accounts: readonly KeptAccount[],
  sources: CreditsSources,
): Promise<ListedAccount[]> {
  const listing = new CreditsListing(sources);
  const listed: ListedAccount[] = [];
  let next = 0;
  const readOn = async (): Promise<void> => {
    for (let index = next++; index < accounts.length; index = next++) {
      const account = accounts[index];
      if (account !== undefined) listed[index] = await listing.read(by, account);
    }
  };
  await Promise.all(Array.from({ length: readAtOnce }, readOn));
  listing.warnOfFailures(by);
  return listed;
}
