import type { KeptAccount } from "../../accounts/account-store.js";
import type { AccountTerms } from "../../gateway/admin/account-terms.js";
import type { Gateway } from "../../gateway/gateway.js";
import { accountRecord } from "../server/account-record.js";
import type { Reader } from "./account-identity.js";

/** The terms of a reader's account, where the host has given some. Its record counts before them. */
export async function readerTerms(gateway: Gateway, reader: Reader): Promise<AccountTerms> {
  if (reader.plan === undefined && reader.anchor === undefined) return {};
  return readerTermsBeside(await accountRecord(gateway, reader.account), reader);
}

/** The same, where the record has been read. */
export function readerTermsBeside(record: KeptAccount | undefined, { plan, anchor }: Reader): AccountTerms {
  return record === undefined && (plan !== undefined || anchor !== undefined) ? { plan, anchor } : {};
}

/** What a new key of the account says of its terms: nothing where the account has a record. */
export async function keyTerms(gateway: Gateway, reader: Reader): Promise<AccountTerms> {
  const { account, anchor } = reader;
  if ((await accountRecord(gateway, account)) !== undefined) return {};
  const { plan } = await gateway.accounts.balance(account, { plan: reader.plan, anchor });
  return { plan, anchor };
}
