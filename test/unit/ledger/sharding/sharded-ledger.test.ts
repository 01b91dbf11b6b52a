import { describe, expect, it } from "vitest";
import {
  type CreditLedger,
  LedgerConflictError,
  LedgerInputError,
  LedgerUnavailableError,
  type RenewRequest,
} from "../../../../src/ledger/credit-ledger.js";
import { shardedLedger } from "../../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { everywhere, Fixture } from "../../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { accountNames, memoryShards } from "./shards-test.js";

const fixture = (ledger: CreditLedger) => new Fixture(new ManualClock(Date.now()), ledger, {});
const byPrefix = (account: string) => account.slice(0, 1);

/** A ledger that fails with all of its operations. */
const away: CreditLedger = Object.assign(memoryCreditLedger(), {
  renew: () => Promise.reject(new LedgerUnavailableError("away")),
});

describe("shardedLedger", () => {
  it("keeps each account in the ledger that shardOf names, and in no other", async () => {
    const shards = memoryShards("a", "b");
    const { ledger, limits } = fixture(shardedLedger({ shards, shardOf: byPrefix }));
    for (const account of ["a1", "b1", "b2"]) {
      const result = await ledger.reserve({ id: account, account, amountMicro: 7, limits, leaseMs: 60_000 });
      if (!result.ok) throw new Error("denied");
      await ledger.settle(result.lease, { amountMicro: 5 });
      const own = await shards[byPrefix(account)]?.balance(account, limits);
      const other = await shards[account.startsWith("a") ? "b" : "a"]?.balance(account, limits);
      expect([own?.windows.week.usedMicro, other?.windows.week.usedMicro]).toEqual([5, 0]);
    }
  });

  it("renews leases of all ledgers, and returns their statuses in order", async () => {
    const shards = memoryShards("a", "b", "c");
    const { ledger, limits } = fixture(shardedLedger({ shards, shardOf: byPrefix }));
    const requests: RenewRequest[] = [];
    for (const account of ["c1", "a1", "b1", "a2", "c2", "b2"]) {
      const result = await ledger.reserve({ id: account, account, amountMicro: 7, limits, leaseMs: 60_000 });
      if (!result.ok) throw new Error("denied");
      if (account.endsWith("2")) await ledger.release(result.lease);
      requests.push({ lease: result.lease, observedMicro: 1, leaseMs: 60_000 });
    }
    expect(await ledger.renew(requests)).toEqual(["renewed", "renewed", "renewed", "closed", "closed", "closed"]);
    expect(await ledger.renew([])).toEqual([]);
  });

  it("renews the leases of the others when a ledger fails, and then throws its error", async () => {
    const b = memoryCreditLedger();
    const { ledger, limits } = fixture(shardedLedger({ shards: { a: away, b }, shardOf: byPrefix as () => "a" | "b" }));
    const leases = await Promise.all(
      ["a1", "b1"].map(async (account) => {
        const result = await ledger.reserve({ id: account, account, amountMicro: 1, limits, leaseMs: 60_000 });
        if (!result.ok) throw new Error("denied");
        return result.lease;
      }),
    );
    const renewal = ledger.renew(leases.map((lease) => ({ lease, observedMicro: 500, leaseMs: 60_000 })));
    await expect(renewal).rejects.toThrow("away");
    // A hold is raised to what its call has cost.
    expect((await b.balance("b1", limits)).windows.week.heldMicro).toBe(500);
  });

  it("renews all other leases when shardOf fails for one account", async () => {
    const shards = memoryShards("a", "b");
    let isGone = false;
    const shardOf = (account: string) => {
      if (isGone && account === "a1") throw new Error("no row");
      return byPrefix(account);
    };
    const { ledger, limits } = fixture(shardedLedger({ shards, shardOf }));
    const requests: RenewRequest[] = [];
    for (const account of ["a1", "b1", "a2"]) {
      const result = await ledger.reserve({ id: account, account, amountMicro: 1, limits, leaseMs: 60_000 });
      if (!result.ok) throw new Error("denied");
      requests.push({ lease: result.lease, observedMicro: 500, leaseMs: 60_000 });
    }
    isGone = true;
    await expect(ledger.renew(requests)).rejects.toThrow("no row");
    for (const account of ["b1", "a2"]) {
      expect((await ledger.balance(account, limits)).windows.week.heldMicro).toBe(500);
    }
  });

  it("adds prepaid credits to an account, and takes them back, where it is kept", async () => {
    const shards = memoryShards("a", "b");
    const { ledger, limits } = fixture(shardedLedger({ shards, shardOf: byPrefix }));
    for (const account of ["a1", "b1"]) {
      await ledger.topUp?.({ id: `payment ${account}`, account, amountMicro: 10 });
      const refund = { id: `refund ${account}`, account, amountMicro: 4 };
      expect(await ledger.deduct?.(refund)).toMatchObject({ balanceMicro: 6 });
      const own = await shards[byPrefix(account)]?.balance(account, limits);
      const other = await shards[account === "a1" ? "b" : "a"]?.balance(account, limits);
      expect([own?.prepaid?.balanceMicro, other?.prepaid]).toEqual([6, undefined]);
    }
  });

  it("sweeps all ledgers that can, and goes on where one is away", async () => {
    const clock = new ManualClock(Date.now());
    const [a, c] = [memoryCreditLedger({ clock }), memoryCreditLedger({ clock })];
    const { sweep, ...unswept } = memoryCreditLedger({ clock });
    let isAway = false;
    const b: CreditLedger = {
      ...memoryCreditLedger({ clock }),
      sweep: async () => {
        if (isAway) throw new LedgerUnavailableError("away");
        return 0;
      },
    };
    const shards: Record<string, CreditLedger> = { b, a, c, d: unswept };
    const { ledger, limits } = fixture(shardedLedger({ shards, shardOf: byPrefix }));
    const hold = async (id: string) => {
      for (const account of ["a1", "c1", "c2"]) {
        await ledger.reserve({ id: `${id} ${account}`, account, amountMicro: 1, limits, leaseMs: 60_000 });
      }
      clock.advance(60_000);
    };
    await hold("first");
    expect(await ledger.sweep?.()).toBe(3);
    isAway = true;
    await hold("second");
    await expect(ledger.sweep?.()).rejects.toThrow("away");
    isAway = false;
    expect([await ledger.sweep?.(), sweep === undefined]).toEqual([0, false]);
    expect(shardedLedger({ shards: { d: unswept } })).not.toHaveProperty("sweep");
  });

  it("closes each ledger once, also when one throws", async () => {
    const closed: string[] = [];
    const closing = (name: string): CreditLedger => ({
      ...memoryCreditLedger(),
      close: async () => {
        closed.push(name);
      },
    });
    const broken: CreditLedger = {
      ...memoryCreditLedger(),
      close: () => {
        throw new Error("broken");
      },
    };
    const a = closing("a");
    const ledger = shardedLedger({ shards: { a, again: a, broken, c: closing("c") } });
    await expect(ledger.close()).rejects.toThrow("broken");
    expect(closed).toEqual(["a", "c"]);
  });

  it("finds accounts by name again with its ledgers in another order", async () => {
    const shards = memoryShards("one", "two", "three");
    const one = fixture(shardedLedger({ shards }));
    const turned = shardedLedger({ shards: Object.fromEntries(Object.entries(shards).toReversed()) });
    for (const account of accountNames(20)) {
      await one.ledger.grant({ id: account, account, window: "week", amountMicro: 3, limits: one.limits });
      expect((await turned.balance(account, one.limits)).windows.week.bonusMicro).toBe(3);
    }
  });

  it("has what all of its ledgers have", async () => {
    const full = memoryCreditLedger();
    const { topUp, deduct, history, statement, totals, ...less } = full;
    const usage = async () => [];
    const subscribe = () => async () => {};
    const all = shardedLedger({ shards: { a: { ...full, usage, subscribe }, b: { ...full, usage, subscribe } } });
    expect(all).toMatchObject({ keepsLimits: true });
    const names = ["topUp", "deduct", "history", "statement", "totals", "usage", "subscribe"];
    for (const name of names) expect(all).toHaveProperty(name);
    const some = shardedLedger({ shards: { a: { ...full, usage, subscribe }, b: { ...less, keepsLimits: false } } });
    expect(some).toMatchObject({ keepsLimits: false });
    for (const name of names) expect(some).not.toHaveProperty(name);
    expect([topUp, deduct, history, statement, totals]).not.toContain(undefined);
  });

  it("is in process if all of its ledgers are, but for copies of it", () => {
    const memory = shardedLedger({ shards: memoryShards("a", "b") });
    expect(memory.inProcess).toBe(true);
    expect({ ...memory }.inProcess).toBeUndefined();
    const remote = { ...memoryCreditLedger() };
    expect(shardedLedger({ shards: { a: memoryCreditLedger(), b: remote } }).inProcess).toBeUndefined();
  });

  it("reports when any of its stores was reached anew, until that is ended", () => {
    const listeners = new Set<() => void>();
    const onReconnected = (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    const ledger = shardedLedger({
      shards: { a: { ...memoryCreditLedger(), onReconnected }, b: memoryCreditLedger() },
    });
    let count = 0;
    const end = ledger.onReconnected?.(() => count++);
    for (const listener of listeners) listener();
    expect(count).toBe(1);
    end?.();
    expect(listeners.size).toBe(0);
    expect(shardedLedger({ shards: memoryShards("a") })).not.toHaveProperty("onReconnected");
  });

  it("passes the notices of all ledgers on", async () => {
    const changes: ((account: string) => void)[] = [];
    let ended = 0;
    const subscribe = async (onChange: (account: string) => void) => {
      changes.push(onChange);
      return async () => void ended++;
    };
    const shards = { a: { ...memoryCreditLedger(), subscribe }, b: { ...memoryCreditLedger(), subscribe } };
    const seen: string[] = [];
    const end = await shardedLedger({ shards }).subscribe?.((account) => seen.push(account));
    for (const [index, change] of changes.entries()) change(`acct_${index}`);
    expect(seen).toEqual(["acct_0", "acct_1"]);
    await end?.();
    expect(ended).toBe(2);
  });

  it("leaves no subscription behind when one of them fails", async () => {
    let ended = 0;
    const works = async () => async () => void ended++;
    const fails = () => Promise.reject(new Error("no feed"));
    const shards = {
      a: { ...memoryCreditLedger(), subscribe: works },
      b: { ...memoryCreditLedger(), subscribe: fails },
      c: { ...memoryCreditLedger(), subscribe: works },
    };
    await expect(shardedLedger({ shards }).subscribe?.(() => {})).rejects.toThrow("no feed");
    expect(ended).toBe(2);
  });

  it("gives the id of a top-up or deduction to one account, wherever accounts are kept", async () => {
    const names = ["a", "b", "c"];
    const ledger = shardedLedger({ shards: memoryShards(...names), shardOf: byPrefix });
    for (const [index, method] of (["topUp", "deduct"] as const).entries()) {
      const id = `payment_${index}`;
      const change = (account: string) => ledger[method]?.({ id, account, amountMicro: 5 });
      const first = await change("a1");
      for (const account of ["b1", "c1", "a2"]) await expect(change(account)).rejects.toThrow(LedgerConflictError);
      expect(await change("a1")).toEqual(first);
    }
    const { limits } = fixture(ledger);
    expect((await ledger.balance("b1", limits)).prepaid).toBeUndefined();
    await expect(ledger.topUp?.({ id: "payment_9", account: "b1", amountMicro: 0 })).rejects.toThrow(LedgerInputError);
    expect(await ledger.topUp?.({ id: "payment_9", account: "c1", amountMicro: 3 })).toMatchObject({ balanceMicro: 3 });
  });

  it("sweeps all of its ledgers, and then throws what the first one threw that failed", async () => {
    const sweeping = (ended: number) => ({ ...memoryCreditLedger(), sweep: async () => ended });
    const { sweep: _, ...unswept } = memoryCreditLedger();
    expect(await shardedLedger({ shards: { a: sweeping(2), b: unswept, c: sweeping(3) } }).sweep?.()).toBe(5);
    let swept = 0;
    const fails = { ...memoryCreditLedger(), sweep: () => Promise.reject(new LedgerUnavailableError("away")) };
    const works = { ...memoryCreditLedger(), sweep: async () => ++swept };
    await expect(shardedLedger({ shards: { a: fails, b: works } }).sweep?.()).rejects.toThrow("away");
    expect(swept).toBe(1);
  });

  it("closes all of its ledgers", async () => {
    const closed: string[] = [];
    const closing = (name: string) => ({ ...memoryCreditLedger(), close: async () => void closed.push(name) });
    await shardedLedger({ shards: { a: closing("a"), b: closing("b") } }).close();
    expect(closed).toEqual(["a", "b"]);
  });

  it.each(["c", "constructor", "__proto__"])("refuses an operation where shardOf returns %s", async (name) => {
    const { ledger, limits } = fixture(shardedLedger({ shards: memoryShards("a"), shardOf: () => name }));
    await expect(ledger.balance("acct", limits)).rejects.toThrow(LedgerInputError);
    await expect(ledger.balance("acct", limits)).rejects.toThrow(JSON.stringify(name));
  });

  it("may have ledgers of any name", async () => {
    const shards = Object.fromEntries([["__proto__", memoryCreditLedger()]]);
    const one = fixture(shardedLedger({ shards }));
    await one.spend(3);
    expect(await one.counts()).toEqual(everywhere(3, 0));
  });

  it("says what is wrong with its options", () => {
    expect(() => shardedLedger({ shards: {} })).toThrow("at least one ledger");
    const misspelled = { shards: memoryShards("a"), shardOff: byPrefix };
    expect(() => shardedLedger(misspelled)).toThrow("no option `shardOff`");
  });
});
