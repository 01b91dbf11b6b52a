import { afterEach, describe, expect, it } from "vitest";
import { type CreditLedger, LedgerUnavailableError } from "../../../../src/ledger/credit-ledger.js";
import { shardedLedger } from "../../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryAccountStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

const most = 8;

let test: TestGateway | undefined;
afterEach(() => test?.close());

/** A gateway of 30 accounts. */
async function start(ledger: CreditLedger) {
  test = await startTestGateway({ ledger, accounts: memoryAccountStore() });
  const { plans, accounts } = test.gateway;
  await plans.put({ id: "pro", models: [], credits: { month: 1 } });
  for (let account = 0; account < 30; account++) await accounts.put({ id: `acct_${account}`, plan: "pro" });
  return accounts;
}

describe("the credits of listed accounts", () => {
  it("are read of at most eight accounts at the same time, and of none without need", async () => {
    const ledger = memoryCreditLedger();
    let open = 0;
    let peak = 0;
    let reads = 0;
    const balance: CreditLedger["balance"] = async (...given) => {
      reads++;
      peak = Math.max(peak, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      return ledger.balance(...given);
    };
    const accounts = await start({ ...ledger, balance });
    const page = await accounts.list();
    expect([page.accounts.length, reads, peak]).toEqual([30, 30, most]);
    expect(page.accounts.every(({ windows }) => windows?.month.limitMicro === 1_000_000)).toBe(true);
    await accounts.list({ credits: false });
    expect(reads).toBe(30);
    await expect(accounts.list({ credits: 1 as never })).rejects.toThrow(/gateway\.accounts\.list.*credits/s);
  });

  it("are marked where the ledger is away, with one warning, and no further account is read then", async () => {
    const away = new LedgerUnavailableError("It is away.");
    let reads = 0;
    const balance: CreditLedger["balance"] = async () => {
      reads++;
      throw away;
    };
    const accounts = await start({ ...memoryCreditLedger(), balance });
    const { accounts: listed } = await accounts.list();
    expect(listed).toHaveLength(30);
    for (const account of listed) {
      expect(Object.keys(account).sort()).toEqual(["creditsUnavailable", "id", "plan", "version"]);
      expect(account.creditsUnavailable).toBe(true);
    }
    // Eight at once, and a read is repeated once.
    expect(reads).toBeLessThan(30);
    const message = expect.stringMatching(
      /^gateway\.accounts\.list: the ledger failed: .* of "acct_\d+" and of 29 more /,
    );
    expect(test?.warnings).toMatchObject([{ code: "credits_unavailable", message, cause: { message: /away/ } }]);
    for (const record of (await accounts.list({ credits: false })).accounts) {
      expect(record).not.toHaveProperty("creditsUnavailable");
    }
  });

  it("are there of all shards but one that is away, which is not asked for each of its accounts", async () => {
    let reads = 0;
    const two: CreditLedger = {
      ...memoryCreditLedger(),
      balance: async () => {
        reads++;
        throw new LedgerUnavailableError("It is away.");
      },
    };
    const shardOf = (account: string) => (Number(account.slice(5)) % 2 === 0 ? "one" : "two");
    const accounts = await start(shardedLedger({ shards: { one: memoryCreditLedger(), two }, shardOf }));
    const { accounts: listed } = await accounts.list();
    expect(listed).toHaveLength(30);
    for (const { id, windows, creditsUnavailable } of listed) {
      const isThere = shardOf(id) === "one";
      expect([windows?.month.limitMicro, creditsUnavailable]).toEqual(
        isThere ? [1_000_000, undefined] : [undefined, true],
      );
    }
    expect(reads).toBeLessThan(30);
    expect(test?.warnings).toMatchObject([
      { code: "credits_unavailable", message: expect.stringContaining('the shard "two" of the ledger failed') },
    ]);
  });

  it("are marked of one account alone where its own credits fail, or its history", async () => {
    const ledger = memoryCreditLedger();
    const accounts = await start({
      ...ledger,
      // Without a guard, which would try again while the others are read.
      inProcess: true,
      balance: async (account, limits) => {
        if (account === "acct_0") throw new Error("It cannot be parsed.");
        return ledger.balance(account, limits);
      },
      history: async (request) => {
        if (request.account === "acct_1") throw new Error("It cannot be parsed.");
        return (await ledger.history?.(request)) ?? { entries: [] };
      },
    });
    const marked = (await accounts.list()).accounts.filter(({ creditsUnavailable }) => creditsUnavailable);
    expect(marked.map(({ id }) => id)).toEqual(["acct_0", "acct_1"]);
  });

  it("are marked of the accounts of a plan that cannot be read", async () => {
    const plans = memoryPlanStore({ pro: { models: [], credits: { month: 1 } } });
    let finds = 0;
    const find = (id: string) => {
      if (id === "pro") return plans.find(id);
      finds++;
      throw new Error("It cannot be parsed.");
    };
    test = await startTestGateway({ plans: { find }, accounts: memoryAccountStore() });
    const { accounts } = test.gateway;
    for (let account = 0; account < 30; account++) {
      await accounts.put({ id: `acct_${account}`, plan: account < 15 ? "pro" : "broken" });
    }
    finds = 0;
    const { accounts: listed } = await accounts.list();
    expect(listed.filter(({ windows }) => windows !== undefined)).toHaveLength(15);
    expect(listed.filter(({ creditsUnavailable }) => creditsUnavailable)).toHaveLength(15);
    expect(finds).toBeLessThanOrEqual(most);
  });

  it("have no last call where the ledger keeps no journal", async () => {
    const accounts = await start(memoryCreditLedger({ historyEntries: 0 }));
    const hold = await accounts.hold("acct_1", { id: "image", credits: 1 });
    await hold.settle({ credits: 1 });
    const { accounts: listed } = await accounts.list();
    const one = listed.find(({ id }) => id === "acct_1");
    expect(one?.windows?.month.usedMicro).toBe(1_000_000);
    expect(one).not.toHaveProperty("lastCallAt");
  });

  it("have the last call that was charged, whatever came after it", async () => {
    let now = Date.UTC(2026, 2, 11, 9, 30);
    const ledger = memoryCreditLedger({ clock: { now: () => now } });
    test = await startTestGateway({ ledger, accounts: memoryAccountStore(), clock: { now: () => now } });
    const { plans, accounts } = test.gateway;
    await plans.put({ id: "pro", models: [], credits: { month: 1 } });
    await accounts.put({ id: "a", plan: "pro" });
    const at = now;
    await (await accounts.hold("a", { id: "image", credits: 1 })).settle({ credits: 0.5 });
    now += 1_000;
    for (let grant = 0; grant < 70; grant++) {
      await accounts.grant("a", { id: `g${grant}`, window: "month", amountMicro: 1 });
    }
    expect((await accounts.list()).accounts).toMatchObject([{ id: "a", lastCallAt: at }]);
  });
});
