import type { AccountTerms } from "../../gateway/admin/account-terms.js";
import type { Gateway } from "../../gateway/gateway.js";
import { accountRecord } from "../server/account-record.js";
import type { Reader } from "./account-identity.js";

/** The terms of a reader's account, where the host has given some. Its record counts before them. */
export async function readerTerms(gateway: Gateway, { account, plan, anchor }: Reader): Promise<AccountTerms> {
  if (plan === undefined && anchor === undefined) return {};
  return (await accountRecord(gateway, account)) === undefined ? { plan, anchor } : {};
}

/** What a new key of the account says of its terms: nothing where the account has a record. */
export async function keyTerms(gateway: Gateway, reader: Reader): Promise<AccountTerms> {
  const { account, anchor } = reader;
  if ((await accountRecord(gateway, account)) !== undefined) return {};
  const { plan } = await gateway.accounts.balance(account, { plan: reader.plan, anchor });
  return { plan, anchor };
}
