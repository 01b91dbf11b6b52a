import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import type * as repeatedSends from "../../../../src/ledger/storage/repeated-sends.js";
import type * as storageLedger from "../../../../src/ledger/storage/storage-ledger.js";
import { MemoryStorage } from "../../../support/ledger/storage/memory-storage.js";

const minute = 60_000;
const never = () => new Promise<never>(() => {});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  // They keep the timers that are there when they are loaded.
  vi.resetModules();
});
afterEach(() => {
  vi.useRealTimers();
  // Other files of this process load them anew.
  vi.resetModules();
});

function loadSends(): Promise<typeof repeatedSends> {
  return import("../../../../src/ledger/storage/repeated-sends.js");
}

it("repetitions that were lost themselves do not keep later ones from theirs", async () => {
  const { RepeatedSends } = await loadSends();
  let sent = 0;
  // The first four connections of the pool have died without a word.
  const send = (): Promise<string> => (++sent <= 4 ? never() : Promise.resolve("answered"));
  const sends = new RepeatedSends("PostgreSQL");
  const run = () => sends.run({ send, mayRepeat: true }).catch((error: Error) => error.name);
  const first = run();
  await vi.advanceTimersByTimeAsync(31_000);
  expect([await first, sent]).toEqual(["LedgerUnavailableError", 3]);
  const second = run();
  await vi.advanceTimersByTimeAsync(31_000);
  expect(await second).toBe("answered");
});

/** A storage that loses its next answers, though it does what it was told. */
class LosingStorage extends MemoryStorage {
  toLose = 0;
  sent = 0;

  override async commit(commits: Parameters<MemoryStorage["commit"]>[0]) {
    this.sent++;
    const outcomes = await super.commit(commits);
    return this.toLose-- > 0 ? never() : outcomes;
  }
}

async function setUp() {
  const { StorageLedger }: typeof storageLedger = await import("../../../../src/ledger/storage/storage-ledger.js");
  const clock = { now: () => Date.now() };
  const storage = new LosingStorage(clock);
  let ids = 0;
  const ledger = new StorageLedger(storage, { now: clock.now, newId: () => `id-${++ids}` });
  const credits = { session: 1_000, week: null, month: null };
  const limits = windowLimits({ credits, sessionMs: 60 * minute, now: clock.now() });
  const run = (decide: Parameters<typeof ledger.run>[1]["run"], newIds: string[] = []) =>
    ledger.run("a", { newIds, names: [], needsFresh: () => false, run: decide }).catch((error: Error) => error.name);
  const reserve = (id: string) =>
    run((engine, now) => engine.reserve({ id, account: "a", amountMicro: 100, limits, leaseMs: minute }, now), [id]);
  return { storage, run, reserve };
}

it("what was done, and whose answer was lost, is done once", async () => {
  const { storage, reserve } = await setUp();
  storage.toLose = 1;
  const reserved = reserve("call");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await reserved).toMatchObject({ ok: true, replayed: true });
  expect(storage.counters("a")?.[1]).toBe(100);
  expect(storage.sent).toBe(2);
});

it("a reset is sent once: a second one would take away what was charged after the first", async () => {
  const { storage, run, reserve } = await setUp();
  const reserved = await reserve("call");
  if (typeof reserved !== "object" || reserved === null || !("lease" in reserved))
    throw new Error("It was not admitted.");
  const lease = reserved.lease as Parameters<Parameters<Parameters<typeof run>[0]>[0]["end"]>[1];
  await run((engine, now) => engine.end("charge", lease, { amountMicro: 80 }, now));
  const before = storage.sent;
  storage.toLose = 1;
  const reset = run((engine, now) => engine.reset("a", ["session"], now));
  await vi.advanceTimersByTimeAsync(31_000);
  expect(await reset).toBe("LedgerUnavailableError");
  expect(storage.sent - before).toBe(1);
});

it("refuses what would wait behind 10,000 operations of an account", async () => {
  const { storage, reserve } = await setUp();
  await reserve("first");
  storage.toLose = 1;
  const under = reserve("lost");
  await vi.advanceTimersByTimeAsync(1);
  const waiting = Array.from({ length: 10_001 }, (_, call) => reserve(`call-${call}`));
  expect(await waiting.at(-1)).toBe("LedgerUnavailableError");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await under).toMatchObject({ ok: true });
});
