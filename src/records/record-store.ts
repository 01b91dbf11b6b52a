/**
 * What a host keeps beside the books of its calls. Each kind has its rules in one place, over any {@link RecordStore}.
 * `account_record` is what the host says of an account; its credits are the ledger's.
 */
export type RecordKind = "key" | "plan" | "account_record" | "budget" | "model";

/** A record to keep. Its texts are compared byte for byte. */
export interface RecordData {
  /** Unique in its kind: at most 450 UTF-16 code units of well-formed Unicode, with no control character but line feeds. */
  readonly id: string;
  /** Whose records it is listed with, see {@link RecordStore.list}. Empty for kinds of which all are listed together. */
  readonly owner: string;
  /** Another name that is unique in its kind; `null`: it has none. */
  readonly alias: string | null;
  /** JSON. A store keeps it letter by letter, and does not look into it. */
  readonly text: string;
}

/** A record as it is read. */
export interface KeptRecord {
  readonly id: string;
  readonly text: string;
  /** See {@link RecordStore.touch}; `null`: it never was. */
  readonly usedAt: number | null;
}

/** What must be so for {@link RecordStore.put} to write. */
export interface RecordCondition {
  /** The text that must be there; `null`: no record may be. Default: whatever is there. */
  readonly expected?: string | null | undefined;
  /**
   * A new record is made only where there are fewer than this of its kind; processes that do so at the same moment may exceed it
   * by a few. Default: any number.
   */
  readonly most?: number | undefined;
}

/**
 * `full`: it would be one too many. `unexpected`: another text is there than was expected, or none, or the alias is another
 * record's. Nothing is written then.
 */
export type RecordPut = "put" | "full" | "unexpected";

/** Which records to list, in the order of their ids, which is the store's own and never changes. */
export interface RecordRange {
  readonly owner: string;
  /** Only greater ids. Empty: from the first one. */
  readonly after: string;
  readonly limit: number;
}

/** That a record was used. */
export interface RecordUse {
  readonly id: string;
  /** When, in epoch milliseconds. */
  readonly at: number;
}

/**
 * What a database does for keys, plans, accounts, budgets and models. It decides nothing: each method is one atomic step,
 * and what is read is as new as what was written, by any process.
 */
export interface RecordStore {
  /**
   * Those of these names that there are, in any order, in one round trip, since calls wait for it.
   * @param names - one or more. Those that have an owner, see {@link ownedId}, are of the same one.
   */
  get(kind: RecordKind, by: "id" | "alias", names: readonly string[]): Promise<readonly KeptRecord[]>;
  list(kind: RecordKind, range: RecordRange): Promise<readonly KeptRecord[]>;
  /** Makes the record, or replaces its text, owner and alias. When it was used stays. */
  put(kind: RecordKind, record: RecordData, condition?: RecordCondition): Promise<RecordPut>;
  /**
   * @param expected - the text that must be there. Default: any.
   * @returns whether it was there, and is gone.
   */
  remove(kind: RecordKind, id: string, expected?: string): Promise<boolean>;
  /** Removes all records of an owner. @returns the aliases of those that have gone. */
  clear(kind: RecordKind, owner: string): Promise<readonly string[]>;
  /**
   * Keeps when records were used. An earlier moment never replaces a later one, and what is not there is passed over. It is
   * no change of the text, and nobody is told.
   */
  touch(kind: RecordKind, uses: readonly RecordUse[]): Promise<void>;
  /**
   * Calls `onChange` with the {@link noticeOf} every record that any process puts or removes. Absent where the database has
   * no notices. Does not keep the process alive.
   * @returns ends the subscription.
   */
  subscribe?(kind: RecordKind, onChange: (name: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
}

/** By which of its names subscribers are told that a record has changed. */
const toldName = {
  key: "alias",
  plan: "id",
  account_record: "id",
  budget: "owner",
  model: "id",
} as const satisfies Record<RecordKind, keyof RecordData>;

/** What subscribers are told of a record. */
export function noticeOf(kind: RecordKind, record: Omit<RecordData, "text">): string {
  return record[toldName[kind]] ?? "";
}

/** The id of a record that has its own name among those of its owner alone. No owner and no name has a line feed. */
export function ownedId(owner: string, name: string): string {
  return `${owner}\n${name}`;
}

/** The owner of such a record; empty where the id is no such one. */
export function ownerOfId(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf("\n")));
}
