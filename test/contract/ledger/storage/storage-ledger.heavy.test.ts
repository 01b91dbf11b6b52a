import { expect, it } from "vitest";
import { type Clock, capBounds, windowLimits } from "../../../../src/ledger/calendar.js";
import { type CreditLedger, LedgerUnavailableError } from "../../../../src/ledger/credit-ledger.js";
import { coreName, type LedgerStorage, namedBy } from "../../../../src/ledger/storage/ledger-storage.js";
import { storageCreditLedger } from "../../../../src/ledger/storage/storage-credit-ledger.js";
import { describeCreditLedger } from "../../../../src/testing/describe-credit-ledger.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { MemoryStorage } from "../../../support/ledger/storage/memory-storage.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";

const ledgerOn = (clock: Clock) => storageCreditLedger(new MemoryStorage(clock), { clock });

describeCreditLedger("a ledger over a storage", ledgerOn, { limits: true });
describeCreditLedgerModel("a ledger over a storage", ledgerOn);

const minute = 60_000;

function setUp(credits = 1_000_000) {
  const clock = new ManualClock(Date.UTC(2026, 2, 11));
  const storage = new MemoryStorage(clock);
  const limits = windowLimits({
    credits: { session: credits, week: null, month: null },
    sessionMs: 60 * minute,
    now: clock.now(),
  });
  const reserve = (ledger: CreditLedger, id: string, account = "a") =>
    ledger.reserve({ id, account, amountMicro: 10, limits, leaseMs: minute });
  return { clock, storage, reserve, open: () => storageCreditLedger(storage, { clock }) };
}

it("calls of two processes on one account add to its counters, and refuse nothing to each other", async () => {
  const { storage, reserve, open } = setUp();
  const [one, other] = [open(), open()];
  async function callAtOnce(call: number): Promise<void> {
    const [mine, theirs] = await Promise.all([reserve(one, `one-${call}`), reserve(other, `other-${call}`)]);
    if (!mine.ok || !theirs.ok) throw new Error("There is enough.");
    await Promise.all([one.settle(mine.lease, { amountMicro: 3 }), other.settle(theirs.lease, { amountMicro: 4 })]);
  }
  // What one process has to read and to put first, and that it is not alone.
  for (let call = -3; call < 0; call++) await callAtOnce(call);
  const before = { ...storage.counts };
  for (let call = 0; call < 50; call++) await callAtOnce(call);
  // 200 operations: a commit each, none for a version, and nothing is read.
  expect(storage.counts.commits - before.commits).toBe(200);
  expect(storage.counts.refused).toBe(before.refused);
  expect(storage.counts.byVersion).toBe(before.byVersion);
  expect(storage.counts.loads).toBe(before.loads);
  expect(storage.counters("a")).toEqual([371, 0, 371, 0, 371, 0]);
});

it("a process that is alone commits by version, and by what it adds once another one has come", async () => {
  const { storage, reserve, open } = setUp();
  const [one, other] = [open(), open()];
  for (let call = 0; call < 10; call++) await reserve(one, `alone-${call}`);
  expect(storage.counts).toMatchObject({ commits: 10, byVersion: 10, refused: 0 });
  await reserve(other, "other");
  for (let call = 0; call < 10; call++) await reserve(one, `shared-${call}`);
  expect(storage.counts.refused).toBe(1);
  expect(storage.counts.byVersion - 10).toBeLessThanOrEqual(2);
  expect(storage.counters("a")?.[1]).toBe(210);
});

it("calls at once are one commit", async () => {
  const { storage, reserve, open } = setUp();
  const ledger = open();
  await reserve(ledger, "first");
  const { commits } = storage.counts;
  const all = await Promise.all(Array.from({ length: 40 }, (_, call) => reserve(ledger, `call-${call}`)));
  expect(all.every(({ ok }) => ok)).toBe(true);
  expect(storage.counts.commits - commits).toBe(1);
  expect(storage.counters("a")).toEqual([0, 410, 0, 410, 0, 410]);
});

it("overspends by less than one call, however many processes there are", async () => {
  const { storage, reserve, open } = setUp(3_000);
  const processes = Array.from({ length: 8 }, open);
  let admitted = 0;
  for (let round = 0; round < 60; round++) {
    const results = await Promise.all(processes.map((ledger, index) => reserve(ledger, `${round}-${index}`)));
    admitted += results.filter(({ ok }) => ok).length;
  }
  expect(admitted).toBe(300);
  expect(storage.counters("a")?.[1]).toBe(3_000);
});

it("leaves an account alone that another release has changed", async () => {
  const { storage, reserve, open } = setUp();
  await reserve(open(), "1");
  const { version, records } = storage.loadNow({ account: "a", names: [], entries: [] });
  const { text = "", counters = [] } = records.get(coreName) ?? {};
  const put = { text: text.replace("[1,", "[2,"), counters, due: undefined };
  const nothing = { requires: new Map(), absentEntries: [], adds: new Map(), removes: [], entries: [], sums: [] };
  const now = storage.loadNow({ account: "a", names: [], entries: [] }).now;
  storage.commitNow({
    ...nothing,
    account: "a",
    version: "new",
    expected: version,
    puts: new Map([[coreName, put]]),
    now,
  });
  const ledger = open();
  const outcomes = await Promise.allSettled([reserve(ledger, "2"), reserve(ledger, "3", "b")]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  const { reason } = outcomes[0] as PromiseRejectedResult;
  expect(reason).toBeInstanceOf(LedgerUnavailableError);
  expect(reason.message).toMatch(/another release \(2, and this one knows 1\)/);
});

/** A storage before whose next commit something else happens. */
class OvertakenStorage extends MemoryStorage {
  before: (() => Promise<unknown>) | undefined;

  override async commit(commits: Parameters<MemoryStorage["commit"]>[0]) {
    const { before } = this;
    this.before = undefined;
    await before?.();
    return super.commit(commits);
  }
}

function setUpOvertaken(session: number | null) {
  const clock = new ManualClock(Date.UTC(2026, 2, 11));
  const storage = new OvertakenStorage(clock);
  const limits = windowLimits({
    credits: { session, week: null, month: null },
    sessionMs: 60 * minute,
    now: clock.now(),
  });
  const open = () => storageCreditLedger(storage, { clock });
  const [one, other] = [open(), open()];
  return { clock, storage, limits, one, other };
}

it("leaves expired credits to a call that was admitted before their end, though it comes between", async () => {
  const { clock, storage, limits, one, other } = setUpOvertaken(0);
  await one.topUp?.({ id: "first", account: "a", amountMicro: 100, expiresAt: clock.now() + minute });
  await one.topUp?.({ id: "second", account: "a", amountMicro: 1_000 });
  await other.balance("a", limits);
  clock.advance(minute - 100);
  let send = (): void => {};
  storage.before = () =>
    new Promise<void>((resolve) => {
      send = resolve;
    });
  const reserved = other.reserve({ id: "call", account: "a", amountMicro: 50, limits, leaseMs: minute });
  await new Promise(setImmediate);
  clock.advance(200);
  // It was decided before the end, and is committed between what the other process reads and what that one commits.
  storage.before = async () => {
    send();
    await reserved;
  };
  await one.topUp?.({ id: "third", account: "a", amountMicro: 1 });
  const call = await reserved;
  if (!call.ok) throw new Error("It was not admitted.");
  await other.settle(call.lease, { amountMicro: 50 });
  // 50 of the first lot pay for it, and 1,001 are left.
  expect((await other.balance("a", limits)).prepaid).toMatchObject({ balanceMicro: 1_001 });
});

it("shows the use of caps that others have changed between its reading and its commit", async () => {
  const { clock, storage, limits, one, other } = setUpOvertaken(null);
  const caps = [
    { id: "key/day", window: "day", limitMicro: 100, bounds: capBounds("day", undefined, clock.now()) },
  ] as const;
  const reserve = (ledger: typeof one, id: string, named = {}) =>
    ledger.reserve({ id, account: "a", amountMicro: 10, limits, leaseMs: minute, ...named });
  await reserve(other, "held", { caps });
  await reserve(one, "warm");
  storage.before = () => reserve(other, "between");
  const [balance] = await Promise.all([one.balance("a", limits, { caps }), reserve(one, "mine")]);
  expect(balance.caps).toMatchObject([{ id: "key/day", heldMicro: 10 }]);
});

it("makes a new cap beside other processes' calls, without a commit by version", async () => {
  const { clock, storage, limits, one, other } = setUpOvertaken(null);
  const reserve = (ledger: typeof one, id: string, named = {}) =>
    ledger.reserve({ id, account: "a", amountMicro: 10, limits, leaseMs: minute, ...named });
  await reserve(one, "first");
  for (const call of [1, 2, 3]) {
    await reserve(other, `other-${call}`);
    await reserve(one, `one-${call}`);
  }
  const { byVersion, refused } = storage.counts;
  const caps = [
    { id: "new", window: "day", limitMicro: 100, bounds: capBounds("day", undefined, clock.now()) },
  ] as const;
  // What is not known is read first. Then another process is faster.
  await one.balance("a", limits, { caps });
  storage.before = () => reserve(other, "faster");
  expect(await reserve(one, "capped", { caps })).toMatchObject({ ok: true });
  expect(storage.counts).toMatchObject({ byVersion, refused });
});

/** A storage that is far away: others commit before whatever is sent arrives. Only a lock keeps them out. */
function farFrom(near: MemoryStorage) {
  const counts = { loads: 0, commits: 0, locked: 0 };
  async function othersCommit(): Promise<void> {
    const { commits } = near.counts;
    while (near.counts.commits < commits + 8) await new Promise(setImmediate);
  }
  const storage: LedgerStorage = {
    async load(asked) {
      counts.loads++;
      await othersCommit();
      return near.load(asked);
    },
    async commit(commits) {
      counts.commits++;
      await othersCommit();
      return near.commit(commits);
    },
    async locked(asked, decide) {
      counts.locked++;
      await othersCommit();
      return near.locked(asked, decide);
    },
    due: (limit) => near.due(limit),
    entries: (asked) => near.entries(asked),
    sums: (asked) => near.sums(asked),
    accounts: (after, limit) => near.accounts(after, limit),
    forget: (account, limit) => near.forget(account, limit),
    purge: (before, limit) => near.purge(before, limit),
  };
  return { storage, counts };
}

it("brings what goes by version through on an account on which seven processes are busy, in four tries each", async () => {
  const clock = new ManualClock(Date.UTC(2026, 2, 11));
  const storage = new MemoryStorage(clock);
  const far = farFrom(storage);
  const limits = windowLimits({
    credits: { session: 10_000_000, week: 10_000_000, month: null },
    sessionMs: 60 * minute,
    now: clock.now(),
  });
  let isOver = false;
  let calls = 0;
  async function hammer(process: number): Promise<void> {
    const ledger = storageCreditLedger(storage, { clock });
    for (let call = 0; !isOver; call++) {
      const id = `${process}-${call}`;
      const reserved = await ledger.reserve({ id, account: "a", amountMicro: 10, limits, leaseMs: minute });
      if (!reserved.ok) throw new Error("There is enough.");
      await ledger.settle(reserved.lease, { amountMicro: 3 });
      calls++;
      await new Promise(setImmediate);
    }
  }
  const others = Array.from({ length: 7 }, (_, process) => hammer(process));
  const ledger = storageCreditLedger(far.storage, { clock });
  const grant = { id: "grant", account: "a", window: "week", amountMicro: 500, limits } as const;
  await ledger.balance("a", limits);
  const steps = [
    () => ledger.topUp?.({ id: "top-up", account: "a", amountMicro: 100 }),
    () => ledger.grant(grant),
    () => ledger.reset("a", ["session"]),
  ];
  for (const step of steps) {
    const before = { ...far.counts };
    await step();
    expect(far.counts.commits - before.commits).toBeLessThanOrEqual(3);
    expect(far.counts.locked - before.locked).toBe(1);
  }
  isOver = true;
  await Promise.all(others);
  const { prepaid, windows } = await storageCreditLedger(storage, { clock }).balance("a", limits);
  expect(prepaid).toMatchObject({ balanceMicro: 100 });
  expect(windows.week).toMatchObject({ usedMicro: 3 * calls, bonusMicro: 500 });
});

it("decides two accounts at a time under their locks, so that the others have connections", async () => {
  const { clock, storage: near, reserve } = setUp();
  let locked = 0;
  let most = 0;
  const { storage } = farFrom(near);
  const refusing: LedgerStorage = {
    ...storage,
    load: (asked) => near.load(asked),
    async commit(commits) {
      const loaded = await near.load(commits.map(namedBy));
      return loaded.map((one) => ({ isDone: false, loaded: one }));
    },
    async locked(asked, decide) {
      most = Math.max(most, ++locked);
      await new Promise(setImmediate);
      try {
        return await near.locked(asked, decide);
      } finally {
        locked--;
      }
    },
  };
  const ledger = storageCreditLedger(refusing, { clock });
  const accounts = Array.from({ length: 20 }, (_, index) => `a-${index}`);
  const reserved = await Promise.all(accounts.map((account) => reserve(ledger, `of ${account}`, account)));
  expect(reserved.every(({ ok }) => ok)).toBe(true);
  expect(most).toBe(2);
  expect(locked).toBe(0);
});
