import { afterEach, describe, expect, it } from "vitest";
import { shardedLedger } from "../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { chatAnswer, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };

describe("gateway.accounts.statement", () => {
  it.each([
    ["memory", () => memoryCreditLedger()],
    // As a ledger of the host's own: behind a guard.
    ["guarded", () => ({ ...memoryCreditLedger() })],
    ["sharded", () => shardedLedger({ shards: { one: memoryCreditLedger(), two: { ...memoryCreditLedger() } } })],
  ])("adds up what was bought, used and taken back: %s", async (_, makeLedger) => {
    test = await startTestGateway({ ledger: makeLedger() });
    const { accounts, handler } = test.gateway;
    const account = "acct_pro";
    await accounts.topUp(account, { id: "payment", credits: 3 });
    test.upstream.reply(wholeAnswer(chatAnswer({ usage })));
    expect((await handler(chatRequest())).status).toBe(200);
    await accounts.deduct(account, { id: "refund", credits: 1, note: "sorry" });
    const { from, to, prepaid, plan } = await accounts.statement(account);
    expect([from, to > Date.now() - 60_000]).toEqual([null, true]);
    expect(prepaid).toEqual({
      ...{ openingMicro: 0, boughtMicro: 3_000_000, usedMicro: 0, expiredMicro: 0 },
      ...{ takenBackMicro: 1_000_000, closingMicro: 2_000_000 },
    });
    const { windows, prepaid: now } = (await accounts.balance(account)) as Awaited<ReturnType<typeof accounts.balance>>;
    expect(now?.balanceMicro).toBe(prepaid.closingMicro);
    expect(plan).toEqual({ usedMicro: windows.month.usedMicro, grantedMicro: 0 });
    expect(plan.usedMicro).toBeGreaterThan(0);
    const { entries } = await accounts.history(account, { kinds: ["deduction", "topup"] });
    expect(entries.map(({ id, tags }) => [id, tags])).toEqual([
      ["refund", { note: "sorry" }],
      ["payment", {}],
    ]);
    expect((await accounts.history(account, { id: "payment" })).entries).toHaveLength(1);
  });

  it("takes moments in any form, and refuses what is none", async () => {
    test = await startTestGateway();
    const { accounts } = test.gateway;
    const range = { from: "2026-03-01", to: new Date("2026-04-01") };
    expect(await accounts.statement("acct_pro", range)).toMatchObject({
      ...{ from: Date.UTC(2026, 2, 1), prepaid: { openingMicro: 0, closingMicro: 0 } },
    });
    await expect(accounts.statement("acct_pro", { from: "soon" })).rejects.toThrow(/from.*not a valid date/);
    await expect(accounts.history("acct_pro", { kinds: ["charges" as "charge"] })).rejects.toThrow(TypeError);
    await expect(accounts.history("acct_pro", { kinds: [] })).rejects.toThrow(TypeError);
  });

  it("says what to do where the ledger makes none", async () => {
    test = await startTestGateway({ ledger: memoryCreditLedger({ historyEntries: 0 }) });
    const statement = test.gateway.accounts.statement("acct_pro");
    await expect(statement).rejects.toThrow(/accounts\.statement: the gateway's ledger makes no statements\. Use/);
  });

  it("heeds what it is asked for, also where a ledger of the host's own does not", async () => {
    const { history, ...ledger } = memoryCreditLedger();
    const careless = {
      ...ledger,
      history: ({ account }: { account: string }) => history?.({ account }),
    } as typeof ledger;
    test = await startTestGateway({ ledger: careless });
    const { accounts } = test.gateway;
    await accounts.topUp("acct_pro", { id: "payment", credits: 3 });
    await accounts.deduct("acct_pro", { id: "refund", credits: 1 });
    const { entries } = await accounts.history("acct_pro", { kinds: ["deduction"] });
    expect(entries.map(({ kind }) => kind)).toEqual(["deduction"]);
  });
});
