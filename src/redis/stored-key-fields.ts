import type { KeyChange, StoredKey } from "../keys/key-store.js";

/** What identifies a key, and never changes. */
const fixed = ["id", "hash", "hint", "account", "createdAt"] as const;

const changeable = ["plan", "name", "expiresAt", "revokedAt", "models", "anchor"] as const;

/** Members as the fields of a Redis hash: name, JSON, name, JSON… Those that are not there are left out. */
export function toFields(key: StoredKey): string[] {
  return [...fixed, ...changeable].flatMap((name) => {
    const value = key[name];
    return value === undefined || value === null ? [] : [name, JSON.stringify(value)];
  });
}

/** @param fields - as HGETALL returns them to a script: name, JSON, name, JSON… */
export function fromFields(fields: readonly unknown[]): StoredKey | undefined {
  if (fields.length === 0) return undefined;
  const members: Record<string, unknown> = {};
  for (let index = 0; index < fields.length; index += 2) {
    members[String(fields[index])] = JSON.parse(String(fields[index + 1]));
  }
  return members as unknown as StoredKey;
}

/** The fields to set, as in {@link toFields}, and the names of those to delete. */
export function toFieldChanges(change: KeyChange): { set: string[]; gone: string[] } {
  const set: string[] = [];
  const gone: string[] = [];
  for (const name of changeable) {
    const value = change[name];
    if (value === null) gone.push(name);
    else if (value !== undefined) set.push(name, JSON.stringify(value));
  }
  return { set, gone };
}
