/** What identifies a key, and never changes. */
const fixedOfKey = ["id", "hash", "hint", "createdAt", "lineage"] as const;
/** Moves on by the key's use alone. */
const touchedOfKey = "lastUsedAt";
const changeableOfKey = [
  ...(["plan", "name", "expiresAt", "revokedAt", "enabled", "models", "anchor", "metadata"] as const),
  ...(["credits", "rates", "tags", "account"] as const),
] as const;
const changeableOfAccount = [
  "plan",
  "anchor",
  "status",
  "message",
  "metadata",
  "rates",
  "models",
  "priceFactor",
] as const;

/** The members that a record's hash has fields for. */
export const storedFields = {
  key: { fixed: [...fixedOfKey, touchedOfKey], changeable: changeableOfKey },
  account: { fixed: ["id"], changeable: changeableOfAccount },
} as const;

interface FieldNames {
  readonly fixed: readonly string[];
  readonly changeable: readonly string[];
}

/** Members as the fields of a Redis hash: name, JSON, name, JSON… Those that are not there are left out. */
export function toFields(record: object, { fixed, changeable }: FieldNames): string[] {
  return fieldsOf(record, [...fixed, ...changeable]).set;
}

/** The fields to set, as in {@link toFields}, and the names of those to delete. */
export function toFieldChanges(change: object, { changeable }: FieldNames): { set: string[]; gone: string[] } {
  return fieldsOf(change, changeable);
}

function fieldsOf(members: object, names: readonly string[]): { set: string[]; gone: string[] } {
  const set: string[] = [];
  const gone: string[] = [];
  for (const name of names) {
    const value = (members as Readonly<Record<string, unknown>>)[name];
    if (value === null) gone.push(name);
    else if (value !== undefined) set.push(name, JSON.stringify(value));
  }
  return { set, gone };
}

/** @param fields - as HGETALL returns them to a script: name, JSON, name, JSON… */
export function fromFields<Stored>(fields: readonly unknown[]): Stored | undefined {
  if (fields.length === 0) return undefined;
  const members: Record<string, unknown> = {};
  for (let index = 0; index < fields.length; index += 2) {
    members[String(fields[index])] = JSON.parse(String(fields[index + 1]));
  }
  return members as Stored;
}
