import { runtime } from "#runtime";
import { withoutNulls } from "../check/without-nulls.js";
import type { StoredAccount } from "./account-store.js";

/**
 * The version of an account's record: a digest of its members. It needs no column of its own, and holds whoever wrote
 * the record, a process of another release too.
 */
export function accountVersion({
  id,
  plan,
  anchor,
  status,
  message,
  metadata,
  rates,
  models,
  priceFactor,
}: StoredAccount): string {
  const members = sorted(withoutNulls({ id, plan, anchor, status, message, metadata, rates, models, priceFactor }));
  return runtime.sha256(JSON.stringify(members), "base64url").slice(0, 22);
}

/** @param expected - a version, or `null`: there is none. */
export function hasVersion(account: StoredAccount | undefined, expected: string | null): boolean {
  return (account === undefined ? null : accountVersion(account)) === expected;
}

/** Objects as lists, so that the order of their members does not matter. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return members.map(([name, member]) => [name, sorted(member)]);
}
