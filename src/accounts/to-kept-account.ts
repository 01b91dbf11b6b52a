import { withoutNulls } from "../check/without-nulls.js";
import type { AccountRecord, KeptAccount, StoredAccount } from "./account-store.js";

/** An account of whatever store, a host's own too, as it is read: no member is `null`, and the anchor is in epoch milliseconds. */
export function toKeptAccount(record: AccountRecord & Pick<StoredAccount, "version">): KeptAccount {
  const { anchor, ...members } = withoutNulls({ ...record });
  return anchor === undefined ? members : { ...members, anchor: new Date(anchor).getTime() };
}
