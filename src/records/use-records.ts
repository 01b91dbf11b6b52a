import { runtime } from "../runtime/this-runtime.js";
import type { KeptRecord, RecordData, RecordKind, RecordStore } from "./record-store.js";

const recordsPerPage = 1000;

/** All records of an owner, in the order of their ids. */
export async function allRecords(records: RecordStore, kind: RecordKind, owner = ""): Promise<readonly KeptRecord[]> {
  const found: KeptRecord[] = [];
  for (let after = ""; ; after = found.at(-1)?.id ?? "") {
    const page = await records.list(kind, { owner, after, limit: recordsPerPage });
    found.push(...page);
    if (page.length < recordsPerPage) return found;
  }
}

/** What a page shows of records that were read in order, and the id to go on after, where there are more. */
export function pageOf(found: readonly KeptRecord[], limit: number): { shown: readonly KeptRecord[]; last?: string } {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return found.length > limit && last !== undefined ? { shown, last: last.id } : { shown };
}

/** Far more than there can be by chance, however many write. */
const mostAttempts = 1000;

/**
 * Makes of a record what follows from it, again until nobody else has changed it meanwhile: so no change is lost.
 * @param apply - gives what the record becomes, or `undefined` to write nothing. What it throws ends the change.
 * @returns the record as it is now; `undefined` where nothing was to be written.
 */
export async function changeRecord(
  records: RecordStore,
  kind: RecordKind,
  id: string,
  apply: (earlier: KeptRecord | undefined) => RecordData | undefined,
): Promise<KeptRecord | undefined> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const [earlier] = await records.get(kind, "id", [id]);
    const next = apply(earlier);
    if (next === undefined) return undefined;
    if ((await records.put(kind, next, { expected: earlier?.text ?? null })) === "put") {
      return { id, text: next.text, usedAt: earlier?.usedAt ?? null };
    }
  }
  throw new Error(`The record ${JSON.stringify(id)} is changed without end. Try again later.`);
}

/** The version of a record: a digest of its text. It needs no column of its own, and holds whoever wrote the text. */
export function textVersion(text: string): string {
  return runtime.sha256(text, "base64url").slice(0, 22);
}

/** The subscription of a store of this kind, where the database has notices. */
export function subscriptionTo(records: RecordStore, kind: RecordKind) {
  const subscribe = records.subscribe?.bind(records, kind);
  return subscribe && { subscribe };
}
