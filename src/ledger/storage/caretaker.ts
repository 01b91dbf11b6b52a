import { runtime } from "../../runtime/this-runtime.js";
import { dayMs } from "../calendar.js";
import { LedgerUnavailableError } from "../credit-ledger.js";
import { claimTopUp } from "../engine/ledger-records.js";
import { copyLimits, pruneLimits } from "../rules/account-limits.js";
import { sumLengthsMs } from "../usage/kept-sums.js";
import { loadedAccount } from "./account-cache.js";
import {
  bucketName,
  type Commit,
  capName,
  coreName,
  type LedgerStorage,
  type Loaded,
  loadOne,
  prepaidKey,
} from "./ledger-storage.js";

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

/** No account has a control character in its id. */
const claimPrefix = "\u0001claim:";
/** A day more than an account remembers the id. */
const keptMs = 32 * dayMs;
/** A place that is not there yet may be brought by others at the same moment. */
const mostTries = 3;

/** A commit that does nothing yet. */
export const emptyCommit: Pick<Commit, "absentEntries" | "adds" | "puts" | "removes" | "entries" | "sums"> = {
  ...{ absentEntries: [], adds: new Map(), puts: new Map(), removes: [], entries: [], sums: [] },
};

/**
 * Gives the id of a top-up to an account, in a ledger of several. The id has a place like an account's in the storage. The account
 * itself is known by a digest: another storage has it, and forgets it.
 *
 * @throws LedgerConflictError where the id is another account's.
 */
export async function claimStored(
  storage: LedgerStorage,
  newId: () => string,
  { id, account }: { id: string; account: string },
): Promise<void> {
  const place = claimPrefix + digest(id);
  const key = prepaidKey(id);
  const holder = digest(account);
  const decide = (loaded: Loaded) => {
    const core = loaded.records.get(coreName);
    const claims = {
      prepaidChange: () => loaded.entries.get(key),
      isClaimedByOther: () => (core === undefined ? undefined : parse(core.text).holder !== holder),
      claim: () => {},
    };
    claimTopUp(claims, id, account, loaded.now);
    const commit = {
      ...emptyCommit,
      ...{ account: place, version: newId(), expected: loaded.version, now: loaded.now },
      requires: new Map([[coreName, core?.stamp]]),
      puts: new Map([[coreName, { text: JSON.stringify([holder, loaded.now]), counters: [], due: undefined }]]),
    };
    return { commit };
  };
  for (let turn = 0; turn < mostTries; turn++) {
    const outcome = await storage.locked({ account: place, names: [], entries: [key] }, decide);
    if (outcome?.isDone) return;
  }
  throw new LedgerUnavailableError(`The storage has refused ${mostTries} times.`);
}

function isClaim(account: string): boolean {
  return account.startsWith(claimPrefix);
}

/** Whether nobody needs to know any more whose the id is. */
function isOldClaim({ records, now }: Loaded): boolean {
  const core = records.get(coreName);
  return core !== undefined && parse(core.text).at < now - keptMs;
}

function parse(text: string): { holder: string; at: number } {
  const [holder, at]: [string, number] = JSON.parse(text);
  return { holder, at };
}

function digest(text: string): string {
  return runtime.sha256(text, "base64url");
}
