import { afterEach, describe, expect, it } from "vitest";
import { type CreditLedger, LedgerUnavailableError } from "../../../src/ledger/credit-ledger.js";
import { memoryAccountStore } from "../../../src/memory/memory-account-store.js";
import { memoryCreditLedger } from "../../../src/memory/memory-credit-ledger.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";

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

  it("fail with the ledger, and no further account is read then", async () => {
    const ledger = memoryCreditLedger();
    let reads = 0;
    const balance: CreditLedger["balance"] = async () => {
      reads++;
      throw new LedgerUnavailableError("It is away.");
    };
    const accounts = await start({ ...ledger, balance });
    await expect(accounts.list()).rejects.toThrow(LedgerUnavailableError);
    // A read is repeated once.
    expect(reads).toBeLessThan(30);
    expect((await accounts.list({ credits: false })).accounts).toHaveLength(30);
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
