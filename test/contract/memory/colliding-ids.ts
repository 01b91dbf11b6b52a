import { idHash } from "../../../src/ledger/id-hash.js";

/** Ids whose hashes' first words are the same in these bits, by their values; only where there are at least two. */
export function collidingIds(count: number, bits: number): string[][] {
  const groups = new Map<number, string[]>();
  for (let index = 0; index < count; index++) {
    const id = `req_${index}`;
    const value = (idHash(id)[0] as number) & bits;
    const group = groups.get(value);
    if (group === undefined) groups.set(value, [id]);
    else group.push(id);
  }
  return [...groups.values()].filter(({ length }) => length > 1);
}
