/** Every method of the management API that changes what is kept. */
export const auditActions = [
  "keys.create",
  "keys.update",
  "keys.rotate",
  "keys.revoke",
  "plans.put",
  "plans.delete",
  "accounts.put",
  "accounts.update",
  "accounts.suspend",
  "accounts.resume",
  "accounts.topUp",
  "accounts.deduct",
  "accounts.grant",
  "accounts.reset",
  "accounts.forget",
  "budgets.put",
  "budgets.remove",
  "models.put",
  "models.remove",
] as const;

/** A change of the management API: its area and its method. */
export type AuditAction = (typeof auditActions)[number];

/** Members of what was given or found, as JSON has them. */
export type AuditDetails = Readonly<Record<string, unknown>>;

/** A change that the host's code has made by the management API. It has no secrets: no key, and no hash of one. */
export interface AuditEntry {
  /** Texts of one process are in the order in which it made them. */
  id: string;
  /** When the change had been made, in epoch milliseconds, by the clock of the process that made it. */
  at: number;
  /** What was done, such as `keys.revoke`. */
  action: AuditAction;
  /**
   * `done`: the change was made. `unknown`: a store or the ledger failed, so that it was made, or a part of it, or nothing.
   * What was refused is no entry.
   */
  outcome: "done" | "unknown";
  /** Who did it, as the host's code gave it. */
  by?: string | undefined;
  /** Why, as the host's code gave it. */
  note?: string | undefined;
  /** The account concerned, also that of a key. */
  account?: string | undefined;
  /** The account that a key moves to. The entry is found by it as by `account`. */
  movedTo?: string | undefined;
  /** Id of the key concerned. */
  key?: string | undefined;
  /** Id of the plan concerned. */
  plan?: string | undefined;
  /** Id of the model concerned. */
  model?: string | undefined;
  /** Id of the budget concerned. */
  budget?: string | undefined;
  /** What the method was given, without what stands above. Of `metadata`, only the names. */
  given?: AuditDetails | undefined;
  /** How it was before, where the method reads that anyway. */
  before?: AuditDetails | undefined;
  /** What came of it, where the method learns that anyway. */
  after?: AuditDetails | undefined;
  /** Names of members that were too large to keep, such as `given.models`. */
  cut?: readonly string[] | undefined;
}

/** Which entries to list. Without members: all. */
export interface AuditQuery {
  /** Also of keys that have moved there, or away from it. */
  account?: string | undefined;
  /** Id of a key. */
  key?: string | undefined;
  action?: AuditAction | undefined;
  by?: string | undefined;
  /** Epoch milliseconds, inclusive. */
  from?: number | undefined;
  /** Epoch milliseconds, exclusive. */
  to?: number | undefined;
  /** From the page before, as it is. Default: the first page. */
  cursor?: string | undefined;
  /** The most entries on the page, 1 to 1000. Default: 100. */
  limit?: number | undefined;
}

/** A page of entries, the newest first. Those of one millisecond come by their ids, in every store. */
export interface AuditPage {
  entries: readonly AuditEntry[];
  /** For the next page; absent on the last one. Opaque. */
  cursor?: string;
}

/** How much a trail keeps. What is beyond goes, the oldest first, a little with each new entry. */
export interface AuditLimits {
  /** How long entries are kept, in days, 1 to 36,500. Default: 400. */
  maxDays?: number | undefined;
  /** How many are kept. Default: 1,000,000; 10,000 in memory. */
  maxEntries?: number | undefined;
}

/** All that there are. */
export const knownAuditLimits: Readonly<Record<keyof AuditLimits, true>> = {
  maxDays: true,
  maxEntries: true,
};

/** Keeps what the host's code has changed by the management API. Entries are never changed. */
export interface AuditTrail {
  /** Keeps an entry. One with the id of another is kept once. @throws TypeError when it is not valid. */
  append(entry: AuditEntry): Promise<void>;
  /** @throws TypeError when the query is not valid. */
  list(query?: AuditQuery): Promise<AuditPage>;
}

const dayMs = 86_400_000;

/** So many of the oldest may go with each entry that is kept. */
export const goneAtOnce = 64;

/** @throws RangeError when a limit is out of range. */
export function checkAuditLimits(
  { maxDays = 400, maxEntries }: AuditLimits = {},
  mostEntries = 1_000_000,
): { readonly keepMs: number; readonly maxEntries: number } {
  const most = maxEntries ?? mostEntries;
  if (!Number.isSafeInteger(maxDays) || maxDays < 1 || maxDays > 36_500) {
    throw new RangeError(`audit.maxDays must be a whole number from 1 to 36,500, not ${maxDays}.`);
  }
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new RangeError(`audit.maxEntries must be a whole number of at least 1, not ${most}.`);
  }
  return { keepMs: maxDays * dayMs, maxEntries: most };
}
