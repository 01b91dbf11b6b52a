import type { EntryTags, LedgerEntry } from "../credit-ledger.js";
import type { SideEntry } from "../engine/ledger-records.js";
import type { Receipt } from "../rules/reservation.js";
import type { AskedSums, StoredSum, SumAddition } from "../usage/kept-sums.js";

/**
 * What a database must be able to do, so that a ledger can stand on it. It keeps records of accounts and compares what it is
 * told to compare. It knows neither windows nor credits: the engine decides.
 */
export interface LedgerStorage {
  /** Reads records of accounts: of each account as it is at one moment. */
  load(asked: readonly AskedRecords[]): Promise<readonly Loaded[]>;
  /**
   * Commits changes of accounts, no two of the same one, in as few round trips as can be. Of each account all is done, or
   * nothing; and each by itself. It may refuse some of several because somebody keeps an account: each is tried by itself then.
   *
   * @throws when it is not known what was done. To repeat a commit is safe: the second one is refused, or is found done.
   */
  commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]>;
  /**
   * Lets a process decide while nobody else commits to an account. It locks the account, reads what is asked, and does what `decide`
   * says of it, all in one transaction. Where the transaction is begun anew, `decide` is called anew: with what is asked at first,
   * and the account as it is then. What `decide` throws undoes the transaction, and is thrown.
   *
   * @returns what has become of the commit. `undefined`: `decide` had none.
   * @throws as {@link commit} does. A second call decides anew: it may do once more what has no id.
   */
  locked(asked: AskedRecords, decide: DecideLocked): Promise<CommitOutcome | undefined>;
  /** Accounts that have records which are due, `limit` at the most. */
  due(limit: number): Promise<readonly string[]>;
  /**
   * Lines of the journal, those with the latest `at` first and of one moment those with the highest `sequence`: `limit` at the
   * most. Those of an account, and the version that it returns with them, are of one moment.
   */
  entries(asked: AskedEntries): Promise<EntryPage>;
  /**
   * The sums that begin in a time, added up: all are one that have the same in each column of `by`. A storage may leave them
   * apart further, as long as each has the columns of `by`. In any order, `limit` at the most. Absent: the storage ignores the
   * sums of commits, and the ledger has neither `usage` nor `totals`.
   */
  sums?(asked: AskedSums): Promise<readonly StoredSum[]>;
  /** Ids of accounts in the order of the database, from the first one after `after` on: `limit` at the most. Empty: before all. */
  accounts(after: string, limit: number): Promise<readonly string[]>;
  /**
   * Deletes some of what there is of an account: `limit` lines of its journal or its sums, and with the last of them its records,
   * its holds and the account itself, all at once. It notes each time that the account was forgotten now: for a day at least,
   * {@link Loaded.forgottenAt} tells. The note has a digest in the place of the account's name.
   *
   * @returns whether there is more to delete.
   */
  forget(account: string, limit: number): Promise<boolean>;
  /**
   * Deletes what is too old, `limit` of each kind at the most, and what others are at may stay.
   *
   * @returns whether there may be more to delete.
   */
  purge(before: PurgedBefore, limit: number): Promise<boolean>;
  /** Tells all processes that accounts may have credits again. Absent: it cannot. */
  announce?(accounts: readonly string[]): Promise<unknown>;
  /** Calls the listener with each account that any process announces. Absent as {@link announce} is. @returns ends it. */
  subscribe?(onChange: (account: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
}

/** Which lines of the journal are asked for. */
export interface AskedEntries {
  /** `undefined`: those of all accounts. */
  readonly account: string | undefined;
  /** Epoch milliseconds, inclusive: any safe integer. */
  readonly from: number;
  /** Epoch milliseconds, exclusive: any safe integer. */
  readonly to: number;
  /** Only entries of these kinds. `undefined`: of all. */
  readonly kinds: readonly LedgerEntry["kind"][] | undefined;
  /** Only entries of this id, of which there are few. `undefined`: of all. */
  readonly id: string | undefined;
  /** Only entries that stand after this place in the answer: of an earlier `at`, or of the same and a lower `sequence`. */
  readonly before: EntryPlace | undefined;
  readonly limit: number;
}

/** Where an entry stands in the journal: any safe integers. */
export interface EntryPlace {
  readonly at: number;
  readonly sequence: number;
}

export interface EntryPage {
  readonly entries: readonly StoredEntry[];
  /** Of the account, as {@link Loaded.version}. Empty where no account is named. */
  readonly version: string;
}

/** A line of the journal as the database keeps it. */
export interface StoredEntry extends EntryPlace {
  readonly account: string;
  /** When it was written, by the database's clock. All entries of a commit have the same, and so do its sums. */
  readonly at: number;
  /** No two entries have the same. Of an account, those of a later commit have higher ones, and so have later ones of a commit. */
  readonly sequence: number;
  readonly kind: NewEntry["kind"];
  readonly id: string;
  readonly amountMicro: number;
  readonly prepaidMicro: number;
  readonly starts: SideEntry["starts"];
  readonly tags: EntryTags | undefined;
}

/** What is too old, in epoch milliseconds by the database's clock. */
export interface PurgedBefore {
  /**
   * Entries of an earlier `at`, but for those of the kinds `topup` and `deduction`; and holds that have expired (they were put
   * without `due`) by a commit before this. Where it deletes any, {@link Loaded.keptFrom} is this moment from then on, unless it
   * is a later one already: in the same step.
   */
  readonly entries: number;
  /** Entries of the kinds `topup` and `deduction` of an earlier `at`. */
  readonly topUps: number;
  /** Sums of a length that begin earlier. */
  readonly sums: readonly { readonly lengthMs: number; readonly before: number }[];
  /** Notes that accounts were forgotten earlier. */
  readonly forgotten: number;
}

/**
 * A record of an account. An account has one named `core`, and others for its caps and rates, whose names are its own. Holds and
 * the keys of entries have one name space for all accounts: two accounts never share one.
 */
export interface StoredRecord {
  /** The version of the commit that put it. What only adds to its counters leaves it as it is. */
  readonly stamp: string;
  /** Opaque. */
  readonly text: string;
  /** Safe integers. */
  readonly counters: readonly number[];
}

/** What is asked of one account. */
export interface AskedRecords {
  readonly account: string;
  /** The records of these names. `core` is always read, and what is due. */
  readonly names: readonly string[];
  /** The kept entries of these keys. */
  readonly entries: readonly string[];
  /** Also all open holds. Default: only those that are due. */
  readonly holds?: boolean | undefined;
  /** Also all records of the account's own. Default: only those that are named. */
  readonly all?: boolean | undefined;
}

/** An account as it was at one moment. */
export interface Loaded {
  readonly account: string;
  /** Of the last commit; a random text, so that none comes again after a restore. Empty: there was none. */
  readonly version: string;
  /** By name: those that were asked for and are there, and those that are due. */
  readonly records: ReadonlyMap<string, StoredRecord>;
  /** Those of the entries asked for that are there, by their keys. */
  readonly entries: ReadonlyMap<string, KeptEntry>;
  /** When the next record is due, in epoch milliseconds. Infinity: none is. */
  readonly nextDue: number;
  /** The database's clock, in epoch milliseconds. */
  readonly now: number;
  /** Entries and expired holds of this moment or later are all still there. `-Infinity`: all that ever were. */
  readonly keptFrom: number;
  /** When the account was forgotten last. `-Infinity`: that is not known. */
  readonly forgottenAt: number;
}

/** What changes an account. */
export interface Commit {
  readonly account: string;
  /** The account's new version, of which no other commit has the like. */
  readonly version: string;
  /** The account's version must be this one. `undefined`: whatever it is. */
  readonly expected: string | undefined;
  /** Records must be as they were put by these versions; `undefined`: there must be none. */
  readonly requires: ReadonlyMap<string, string | undefined>;
  /** Of these keys there must be no entry. */
  readonly absentEntries: readonly string[];
  readonly adds: ReadonlyMap<string, readonly Add[]>;
  readonly puts: ReadonlyMap<string, Put>;
  readonly removes: readonly string[];
  readonly entries: readonly NewEntry[];
  /** Numbers that are added to the account's sums, whatever those are. No two are of the same sum. */
  readonly sums: readonly SumAddition[];
  /** When it was decided. The database refuses it where its own clock is more than `mostSkewMs` away. */
  readonly now: number;
}

/** A commit that does nothing yet. */
export const emptyCommit: Pick<Commit, "absentEntries" | "adds" | "puts" | "removes" | "entries" | "sums"> = {
  ...{ absentEntries: [], adds: new Map(), puts: new Map(), removes: [], entries: [], sums: [] },
};

/** The change of one counter of a record, if the counter is within its bounds. */
export interface Add {
  readonly by: number;
  /** The counter must be at least this before. */
  readonly least: number;
  /** The counter must be at most this before. */
  readonly most: number;
  /** The counter counts as this where it is less. `-Infinity`: it counts as it is. */
  readonly floor: number;
}

export interface Put {
  readonly text: string;
  readonly counters: readonly number[];
  /** An open hold is due when its lease ends, in epoch milliseconds. `undefined`: never. */
  readonly due: number | undefined;
}

/** What is known of an entry by its key. */
export interface KeptEntry {
  readonly account: string;
  readonly amountMicro: number;
  /** Of the end of a reservation. */
  readonly receipt?: Receipt | undefined;
  /** Of a grant: the start of its window. Of others none that matter. */
  readonly starts: SideEntry["starts"];
  readonly expiresAt?: number | undefined;
}

/** A line of the journal. The database says when it was written, and numbers it. */
export interface NewEntry {
  readonly account: string;
  /** Under which it is found again. `undefined`: it is not. */
  readonly key: string | undefined;
  readonly kind: SideEntry["kind"] | "charge" | "release";
  readonly id: string;
  readonly amountMicro: number;
  readonly prepaidMicro: number;
  readonly starts: SideEntry["starts"];
  readonly tags: EntryTags | undefined;
  readonly expiresAt: number | undefined;
  /** What a repetition of the reservation that ends with it must be told. */
  readonly receipt: Receipt | undefined;
}

/** What has become of a commit. */
export type CommitOutcome =
  | {
      readonly isDone: true;
      /** The counters of the records that were added to, as they are now. */
      readonly counters: ReadonlyMap<string, readonly number[]>;
      readonly nextDue: number;
      /** The account's version before it. */
      readonly previous: string;
    }
  /** It was refused. The account as it is, with all records and entries that the commit names. */
  | { readonly isDone: false; readonly loaded: Loaded };

/** Decides on an account that is locked, at once. @param asked - what was read. */
export type DecideLocked = (loaded: Loaded, asked: AskedRecords) => LockedStep;

/** What to do with an account that is locked: read more of it, commit, or nothing. */
export type LockedStep = { readonly ask: AskedRecords } | { readonly commit: Commit } | undefined;

/** All that a commit stands on: what is told of an account where it is refused. */
export function namedBy({ account, requires, absentEntries }: Commit): AskedRecords {
  return { account, names: [...requires.keys()], entries: absentEntries };
}

/** Reads one account. */
export async function loadOne(
  storage: LedgerStorage,
  account: string,
  asked: Partial<AskedRecords> = {},
): Promise<Loaded> {
  const [loaded] = await storage.load([{ names: [], entries: [], ...asked, account }]);
  return loaded as Loaded;
}

export const coreName = "core";

const capPrefix = "cap:";
const bucketPrefix = "rate:";
const holdPrefix = "hold:";

export function capName(id: string): string {
  return capPrefix + id;
}

export function bucketName(id: string): string {
  return bucketPrefix + id;
}

export function holdName(id: string): string {
  return holdPrefix + id;
}

/** The id of the cap of this name. `undefined`: it is another record's. */
export function capIdOf(name: string): string | undefined {
  return idAfter(capPrefix, name);
}

/** The id of the rate of this name. `undefined`: it is another record's. */
export function bucketIdOf(name: string): string | undefined {
  return idAfter(bucketPrefix, name);
}

/** The id of the hold of this name. `undefined`: it is another record's. */
export function holdIdOf(name: string): string | undefined {
  return idAfter(holdPrefix, name);
}

export function isHold(name: string): boolean {
  return name.startsWith(holdPrefix);
}

function idAfter(prefix: string, name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}

/** The key of the entry that ends a reservation. */
export function endKey(id: string): string {
  return `end:${id}`;
}

export function grantKey(id: string): string {
  return `grant:${id}`;
}

export function prepaidKey(id: string): string {
  return `prepaid:${id}`;
}
