import type { AccountTerms } from "../../gateway/admin/account-terms.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { Reader } from "./account-identity.js";

/** The terms of a reader's account, where the host has given some. Its record counts before them. */
export async function readerTerms(gateway: Gateway, { account, plan, anchor }: Reader): Promise<AccountTerms> {
  if ((plan === undefined && anchor === undefined) || (await hasRecord(gateway, account))) return {};
  return { plan, anchor };
}

/** What a new key of the account says of its terms: nothing where the account has a record. */
export async function keyTerms(gateway: Gateway, reader: Reader): Promise<AccountTerms> {
  if (await hasRecord(gateway, reader.account)) return {};
  const { plan } = await gateway.accounts.balance(reader.account, { plan: reader.plan, anchor: reader.anchor });
  return { plan, anchor: reader.anchor };
}

async function hasRecord(gateway: Gateway, account: string): Promise<boolean> {
  try {
    return (await gateway.accounts.get(account)) !== undefined;
  } catch (error) {
    // The gateway has no account store.
    if (error instanceof TypeError) return false;
    throw error;
  }
}
