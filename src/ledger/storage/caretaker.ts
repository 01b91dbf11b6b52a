import { dayMs } from "../calendar.js";
import { copyLimits, pruneLimits } from "../rules/account-limits.js";
import { sumLengthsMs } from "../usage/kept-sums.js";
import { loadedAccount } from "./account-cache.js";
import {
  bucketName,
  capName,
  coreName,
  emptyCommit,
  type LedgerStorage,
  type Loaded,
  loadOne,
} from "./ledger-storage.js";
import { isClaim, isOldClaim } from "./stored-claims.js";

/** The ids of top-ups are known for as long at least. */
const topUpKeptMs = 31 * dayMs;
/** The sums of days are kept for as long at least. */
const usageKeptMs = 400 * dayMs;
/** So often, at the most, does a process look for what is too old. */
const pauseMs = 60_000;
const rowsPerStep = 1_000;
const mostSteps = 20;
const accountsPerRound = 100;

interface CaretakerParts {
  readonly storage: LedgerStorage;
  /** This process's clock. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly retentionMs: number;
}

/** Takes out of a storage what nobody needs any more: some of it now and then, and one account after the other. */
export class Caretaker {
  readonly #parts: CaretakerParts;
  #next = Number.NEGATIVE_INFINITY;
  /** The account that was looked after last. */
  #visited = "";

  constructor(parts: CaretakerParts) {
    this.#parts = parts;
  }

  /** Does some of the work, if it is time. */
  async round(): Promise<void> {
    const { storage, now } = this.#parts;
    const time = now();
    // The clock may have been put back.
    if (time < this.#next && time >= this.#next - pauseMs) return;
    this.#next = time + pauseMs;
    const loaded = await loadOne(storage, this.#visited);
    await this.#purge(loaded.now);
    const accounts = await storage.accounts(this.#visited, accountsPerRound);
    // From wherever it was: it goes round all of them.
    this.#visited = accounts.length < accountsPerRound ? "" : (accounts.at(-1) as string);
    for (const account of accounts) await this.#lookAfter(account);
  }

  async #purge(now: number): Promise<void> {
    const { storage, retentionMs } = this.#parts;
    const [days, quarters] = sumLengthsMs;
    const before = {
      entries: now - retentionMs,
      topUps: now - Math.max(retentionMs, topUpKeptMs),
      sums: [
        { lengthMs: days, before: Math.floor((now - Math.max(retentionMs, usageKeptMs)) / days) * days },
        // For parts of days, of which the journal is read as well.
        { lengthMs: quarters, before: now - retentionMs },
      ],
      forgotten: now - dayMs,
    };
    for (let step = 0; step < mostSteps; step++) if (!(await storage.purge(before, rowsPerStep))) return;
  }

  async #lookAfter(account: string): Promise<void> {
    const { storage } = this.#parts;
    const loaded = await loadOne(storage, account, { all: true });
    if (isClaim(account)) {
      if (isOldClaim(loaded)) await storage.forget(account, 1);
      return;
    }
    await this.#prune(account, loaded);
  }

  /** Drops caps and rates that are as good as unknown. Whoever is faster with the account keeps them for another round. */
  async #prune(account: string, loaded: Loaded): Promise<void> {
    const { storage, newId } = this.#parts;
    const { records, version, now } = loaded;
    const limits = loadedAccount(loaded)?.limits;
    if (limits === undefined) return;
    const left = copyLimits(limits);
    // Not at once: a clock that runs ahead and is put back must not fill anything again.
    pruneLimits(left, now - dayMs);
    const removes = [
      ...[...limits.caps.keys()].filter((id) => !left.caps.has(id)).map(capName),
      ...[...limits.buckets.keys()].filter((id) => !left.buckets.has(id)).map(bucketName),
    ];
    if (removes.length === 0) return;
    const requires = new Map([coreName, ...removes].map((name) => [name, records.get(name)?.stamp]));
    await storage.commit([{ ...emptyCommit, account, version: newId(), expected: version, requires, removes, now }]);
  }
}
