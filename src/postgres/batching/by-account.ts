/**
 * Sorts operations into the one order in which statements lock accounts: no two statements then wait for each other in a
 * circle, whichever processes send them. It compares UTF-16 code units, so that no locale and no setting changes it.
 */
export function byAccount(left: { readonly account: string }, right: { readonly account: string }): number {
  return left.account < right.account ? -1 : left.account > right.account ? 1 : 0;
}
