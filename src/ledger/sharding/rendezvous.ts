import { idHash } from "../id-hash.js";

/**
 * The name that an account belongs to: the one with the highest score for it. A name that is added takes its accounts
 * from all others alike, and moves no account between those. The order of the names has no effect.
 *
 * Operators keep data by what this returns, so it must never return another name for the same arguments.
 *
 * @param names - at least one.
 */
export function rendezvous(names: readonly string[], account: string): string {
  let [best = ""] = names;
  if (names.length === 1) return best;
  let highest = Number.NEGATIVE_INFINITY;
  for (const name of names) {
    const score = scoreOf(name, account);
    if (score < highest || (score === highest && name > best)) continue;
    best = name;
    highest = score;
  }
  return best;
}

/** NUL is in no account's id, so no two pairs of name and account make the same text. */
function scoreOf(name: string, account: string): number {
  return idHash(`${name}\0${account}`)[0] ?? 0;
}
