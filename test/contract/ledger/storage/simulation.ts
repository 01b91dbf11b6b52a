import { setImmediate as nextTurn } from "node:timers/promises";
import { capBounds, windowLimits } from "../../../../src/ledger/calendar.js";
import {
  type CreditLedger,
  type Lease,
  type LedgerEntry,
  LedgerUnavailableError,
} from "../../../../src/ledger/credit-ledger.js";
import type { CapLimit, RateLimit } from "../../../../src/ledger/limits.js";
import type {
  AskedRecords,
  Commit,
  CommitOutcome,
  DecideLocked,
  LedgerStorage,
  Loaded,
} from "../../../../src/ledger/storage/ledger-storage.js";
import { storageCreditLedger } from "../../../../src/ledger/storage/storage-credit-ledger.js";
import { UsageSums } from "../../../../src/ledger/usage/usage-sums.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { entriesOf } from "../../../../src/testing/credit-ledger-journal/journal-tests.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { MemoryStorage } from "../../../support/ledger/storage/memory-storage.js";

// Some processes share a storage over a network that loses, repeats and reorders what they send. One seed decides about
// everything: who asks for what, which message arrives next, which is lost, when time passes and when a process dies. A second
// ledger, in memory, does each operation at the moment at which the storage commits it. In the end both have the same books.

const hour = 3_600_000;
const busy = "a";
const accounts = [busy, "b"];

const lost = new Error("The network has lost it.");
const noLocks = { locked: 0, lostLocked: 0, diedLocked: 0 };

/** A generator of numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What an operation does, on whichever ledger. */
type Operation = (ledger: CreditLedger) => Promise<unknown>;

interface Message {
  deliver(): void;
}

export interface SimulationResult {
  readonly problems: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

/** Runs one simulation. Equal seeds do equal things. */
export async function simulate(seed: number, { steps = 150, faults = true } = {}): Promise<SimulationResult> {
  const random = randomOf(seed);
  const below = (most: number) => Math.floor(random() * most);
  const pick = <Item>(items: readonly Item[]) => items[below(items.length)] as Item;
  const clock = new ManualClock(Date.UTC(2026, 0, 30, 22));
  const storage = new MemoryStorage(clock);
  const referenceClock = new ManualClock(clock.now());
  const reference = memoryCreditLedger({ clock: referenceClock });
  const messages: Message[] = [];
  const problems: string[] = [];
  /** Whoever began with it may have died. */
  const halfForgotten = new Set<string>();
  const refusedByReference = new Set<Operation>();
  /** Accounts that a transaction has locked. */
  const locks = new Set<string>();
  const counts = { admitted: 0, denied: 0, failed: 0, commits: 0, byVersion: 0, refused: 0, crashes: 0, ...noLocks };
  /** Whether many processes are at one account. Then some of them need its lock. */
  const isBusy = random() < 0.3;
  const plan = { session: 40 + below(120), week: 200, month: below(2) === 0 ? null : 250 };
  const limits = () => windowLimits({ credits: plan, sessionMs: 5 * hour, now: clock.now() });
  const caps = (): CapLimit[] => [
    { id: "key/day", window: "day", limitMicro: 120, bounds: capBounds("day", undefined, clock.now()) },
  ];
  const rates = (): RateLimit[] => [
    { id: "requests", kind: "requests", take: 1, limit: 60, burst: 12 },
    { id: "open", kind: "concurrent", take: 1, limit: 6, burst: 1 },
  ];
  let serial = 0;

  /** The commit that was done is done on the reference, at the moment at which it was decided. */
  async function follow(operation: Operation | undefined, account: string, decidedAt: number): Promise<void> {
    referenceClock.set(decidedAt);
    try {
      await (operation ?? ((ledger) => ledger.reset(account, [])))(reference);
    } catch {
      // What time has changed is committed, though the operation is refused.
      if (operation !== undefined) refusedByReference.add(operation);
    }
  }

  /** Commits an account's change, and has the reference do the same. */
  async function commitNow(commit: Commit, operation: Operation | undefined): Promise<CommitOutcome> {
    const outcome = storage.commitNow(commit);
    if (outcome.isDone) await follow(operation, commit.account, commit.now);
    return outcome;
  }

  /** Something reaches the storage. @param changed - accounts of which none may be locked. */
  function arrive(changed: readonly string[], run: () => void): void {
    messages.push({
      deliver: () => (changed.some((account) => locks.has(account)) ? arrive(changed, run) : run()),
    });
  }

  /** The network between a process and the storage. */
  function network(process: Process): LedgerStorage {
    const reply = (deliver: () => void) => messages.push({ deliver: () => process.isAlive && deliver() });

    /** @param changed - the accounts that it changes. While one of them is locked, it waits. */
    function send<Reply>(run: () => Promise<Reply>, changed: readonly string[] = []): Promise<Reply> {
      return new Promise((resolve, reject) => {
        const fate = faults ? random() : 1;
        arrive(changed, () => {
          if (fate < 0.02) return reply(() => reject(lost));
          run().then(
            (answer) => reply(() => (fate < 0.05 ? reject(lost) : resolve(answer))),
            (error: unknown) => reply(() => reject(error)),
          );
          // The same once more, some time later. Nobody hears of it.
          if (fate > 0.05 && fate < 0.08) arrive(changed, () => void run());
        });
      });
    }

    /** A transaction over one connection. Where that is lost, or the process dies, the storage notices some time later. */
    function locked(asked: AskedRecords, decide: DecideLocked): Promise<CommitOutcome | undefined> {
      const { account } = asked;
      const operation = process.current.get(account);
      return new Promise((resolve, reject) => {
        const isLost = () => faults && random() < 0.05;
        const rollBack = (error: unknown) => {
          messages.push({ deliver: () => locks.delete(account) });
          reply(() => reject(error));
        };
        const read = (names: AskedRecords) => {
          const loaded = storage.loadNow(names);
          const deliver = () => {
            if (process.isAlive) return goOn(loaded, names);
            counts.diedLocked++;
            rollBack(lost);
          };
          messages.push({ deliver });
        };
        const goOn = (loaded: Loaded, names: AskedRecords) => {
          const step = decide(loaded, names);
          arrive([], () => {
            if (isLost()) {
              counts.lostLocked++;
              return rollBack(lost);
            }
            if (step !== undefined && "ask" in step) return read(step.ask);
            void commitLocked(step?.commit);
          });
        };
        const commitLocked = async (commit: Commit | undefined) => {
          const outcome = commit && (await commitNow(commit, operation));
          locks.delete(account);
          counts.locked++;
          reply(() => (isLost() ? reject(lost) : resolve(outcome)));
        };
        arrive([account], () => {
          locks.add(account);
          read(asked);
        });
      });
    }

    return {
      load: (asked) => send(() => storage.load(asked)),
      commit: (commits) => {
        const operations = commits.map(({ account }) => process.current.get(account));
        const run = async () => {
          const outcomes: CommitOutcome[] = [];
          for (const [index, commit] of commits.entries()) outcomes.push(await commitNow(commit, operations[index]));
          return outcomes;
        };
        return send(
          run,
          commits.map(({ account }) => account),
        );
      },
      locked,
      due: (limit) => send(() => storage.due(limit)),
      entries: (asked) => send(() => storage.entries(asked)),
      sums: (asked) => send(() => storage.sums(asked)),
      accounts: (after, limit) => send(() => storage.accounts(after, limit)),
      forget: (account) =>
        send(async () => {
          // In steps, between which other messages arrive.
          const isMore = await storage.forget(account, 3);
          if (isMore) halfForgotten.add(account);
          else {
            halfForgotten.delete(account);
            await follow((ledger) => ledger.forget(account), account, clock.now());
          }
          return isMore;
        }, [account]),
      purge: (before, limit) => send(() => storage.purge(before, limit)),
    };
  }

  interface Process {
    isAlive: boolean;
    isBusy: boolean;
    readonly current: Map<string, Operation>;
    readonly leases: Lease[];
    ledger: CreditLedger;
  }

  function start(): Process {
    const process: Process = { isAlive: true, isBusy: false, current: new Map(), leases: [], ledger: reference };
    // What counts is the storage's clock, whatever the process's own says.
    const aheadMs = pick([0, 0, 7, -3, 600_000, -86_400_000]);
    process.ledger = storageCreditLedger(network(process), { clock: { now: () => clock.now() + aheadMs } });
    return process;
  }

  /** Something that a process may do: on which account, and what comes of it. */
  function chosen(process: Process): { account: string; operation: Operation; done?: (value: unknown) => void } {
    const account = isBusy ? busy : pick(accounts);
    const id = `id-${serial++}`;
    const what = random();
    const leaseAt = below(process.leases.length);
    const lease = process.leases[leaseAt];
    if (what < 0.55 && lease !== undefined) {
      const amountMicro = below(40);
      const tags = { model: pick(["m", "n"]), input: below(1_000), "tag.team": pick(["red", "blue"]) };
      const end: Operation =
        what < 0.1
          ? (ledger) => ledger.release(lease)
          : what < 0.2
            ? async (ledger) => ledger.renew([{ lease, observedMicro: amountMicro, leaseMs: 30_000 }])
            : (ledger) => ledger.settle(lease, { amountMicro, rates: [], tags });
      const done = () => (what < 0.1 || what >= 0.2) && process.leases.splice(process.leases.indexOf(lease), 1);
      return { account: lease.account, operation: end, done };
    }
    if (what > 0.95) {
      const topUp = { id, account, amountMicro: 1 + below(300), expiresAt: clock.now() + 60_000 * (1 + below(10)) };
      return { account, operation: async (ledger) => ledger.topUp?.(topUp) };
    }
    if (what > 0.92) {
      const deduction = { id, account, amountMicro: 1 + below(50) };
      return { account, operation: async (ledger) => ledger.deduct?.(deduction) };
    }
    if (what > 0.9) {
      const grant = { id, account, window: "week", amountMicro: below(100), limits: limits() } as const;
      return { account, operation: (ledger) => ledger.grant(grant) };
    }
    if (what > 0.895) return { account, operation: (ledger) => ledger.forget(account) };
    if (what > 0.89) return { account, operation: (ledger) => ledger.reset(account, ["week"]) };
    const named = random() < 0.5 ? { caps: caps(), rates: rates() } : {};
    const request = {
      id,
      account,
      amountMicro: below(30),
      limits: limits(),
      leaseMs: 30_000,
      strict: random() < 0.3,
      ...named,
    };
    return {
      account,
      operation: (ledger) => ledger.reserve(request),
      done: (value) => {
        const result = value as Awaited<ReturnType<CreditLedger["reserve"]>>;
        counts[result.ok ? "admitted" : "denied"]++;
        if (result.ok) process.leases.push(result.lease);
      },
    };
  }

  function act(process: Process): void {
    if (process.isBusy) return;
    process.isBusy = true;
    const { account, operation, done } = chosen(process);
    process.current.set(account, operation);
    operation(process.ledger)
      .then(
        (value) => {
          if (refusedByReference.has(operation)) problems.push("What the reference refuses was done.");
          done?.(value);
        },
        (error: unknown) => {
          counts.failed++;
          if (!(error instanceof LedgerUnavailableError) && !(error instanceof Error && "status" in error)) {
            problems.push(`An operation fails by itself: ${error instanceof Error ? error.stack : String(error)}`);
          }
        },
      )
      .finally(() => {
        process.isBusy = false;
      });
  }

  const processes = Array.from({ length: isBusy ? 6 : 2 + below(3) }, start);
  let isNextSession = false;
  for (let step = 0; step < steps; step++) {
    const what = random();
    if (what < 0.03) clock.advance(pick([1, 20, 500, 2_000, 31_000]));
    else if (what < 0.032 && !isNextSession) {
      // Once: the reference does not know for longer what has expired.
      isNextSession = true;
      clock.advance(6 * hour);
    } else if (faults && what < (isBusy ? 0.06 : 0.036)) {
      const died = below(processes.length);
      (processes[died] as Process).isAlive = false;
      processes[died] = start();
      counts.crashes++;
    } else if (what < 0.4) act(pick(processes));
    else messages.splice(below(messages.length), 1)[0]?.deliver();
    await nextTurn();
  }
  // What is on its way arrives.
  while (messages.length > 0) {
    messages.splice(below(messages.length), 1)[0]?.deliver();
    await nextTurn();
  }

  clock.advance(Math.max(0, referenceClock.now() - clock.now()));
  referenceClock.advance(clock.now() - referenceClock.now());
  const books = storageCreditLedger(storage, { clock });
  for (const account of halfForgotten) for (const ledger of [books, reference]) await ledger.forget(account);
  for (const account of accounts) {
    // What is due ends in both.
    for (const ledger of [books, reference]) await ledger.reset(account, []);
    const named = { caps: caps(), rates: rates() };
    const [real, expected] = [
      await books.balance(account, limits(), named),
      await reference.balance(account, limits(), named),
    ];
    for (const [index, rate] of (real.rates ?? []).entries()) {
      const { remaining = 0 } = expected.rates?.[index] ?? {};
      if (rate.remaining !== remaining) {
        problems.push(`The rates of ${account} differ: ${JSON.stringify(rate)} has not ${remaining}.`);
      }
    }
    problems.push(...(await differencesOf(books, reference, account)));
    const [own, others] = [real, expected].map((balance) => JSON.stringify({ ...balance, rates: undefined }));
    if (own !== others) problems.push(`The books of ${account} differ: ${own} and not ${others}`);
  }
  const { commits, byVersion, refused } = storage.counts;
  return { problems, counts: { ...counts, commits, byVersion, refused } };
}

/** What the journal and the sums of an account have that those of the reference, and of each other, have not. */
async function differencesOf(books: CreditLedger, reference: CreditLedger, account: string): Promise<string[]> {
  const problems: string[] = [];
  const [real, expected] = await Promise.all([books, reference].map((ledger) => entriesOf({ ledger, id: account })));
  const linesOf = (entries: readonly LedgerEntry[] = []) =>
    entries.map(({ kind, id, amountMicro, prepaidMicro, starts, tags }) =>
      // The others make their ids themselves.
      JSON.stringify([kind, /^(reset|expiry)_/.test(id) ? "" : id, amountMicro, prepaidMicro, starts, tags]),
    );
  const [own, others] = [linesOf(real).sort(), linesOf(expected).sort()];
  if (own.join() !== others.join()) problems.push(`The journals of ${account} differ: ${own} and not ${others}`);
  for (const by of [["funding"], ["day", "model"], ["team", "key"]]) {
    const sums = new UsageSums(by);
    for (const entry of real ?? []) sums.addEntry(entry);
    const usage = JSON.stringify(await books.usage?.({ account, by }));
    const added = JSON.stringify(sums.list());
    if (usage !== added) problems.push(`The sums of ${account} differ: ${usage} and not ${added}`);
  }
  return problems;
}
