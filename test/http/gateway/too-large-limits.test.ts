import { afterEach, describe, expect, it } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

const most = "9007199254";

describe("a limit that is too large to count, found in a store", () => {
  const keyOf = (credits: object) => ({ id: "key_1", account: "a", plan: "p", credits });

  it.each<[string, object, object, string]>([
    ["of a key", { day: 1e308, total: 5 }, { month: 100 }, 'The key "key_1": credits.day '],
    ["of a plan", { day: 5 }, { session: 100, month: 1e308 }, 'The plan "p": credits.month '],
    ["barely", { total: 9_007_199_255 }, {}, 'The key "key_1": credits.total '],
  ])("counts as the largest, with one warning: %s", async (_, credits, planCredits, message) => {
    test = await startTestGateway({
      keys: { find: (hash) => (hash === hashKey("sk-1") ? keyOf(credits) : undefined) },
      plans: { find: () => ({ id: "p", models: ["acme/*"], credits: planCredits }) },
      cacheTtlMs: 0,
    });
    test.upstream.reply(wholeAnswer());
    for (let call = 0; call < 3; call++) expect((await test.gateway.handler(chatRequest({}, "sk-1"))).status).toBe(200);
    expect(test.warnings.map(({ code }) => code)).toEqual(["limit_too_large"]);
    expect(test.warnings[0]?.message).toContain(message);
    expect(test.warnings[0]?.message).toContain(most);
  });

  it("still charges what calls cost, and the other limits hold", async () => {
    test = await startTestGateway({
      keys: { find: () => keyOf({ day: 1e308, total: 0 }) },
      plans: { find: () => ({ id: "p", models: ["acme/*"], credits: { month: Number.MAX_VALUE } }) },
    });
    const denied = await test.gateway.handler(chatRequest({}, "sk-1"));
    expect(denied.status).toBe(429);
    expect(denied.headers.get("x-ratelimit-limit-month")).toBe(most);
  });

  it.each([-1, "5", Number.NaN])("is not a limit that is none, such as %s: that is a 503", async (day) => {
    test = await startTestGateway({ keys: { find: () => keyOf({ day }) as never } });
    expect((await test.gateway.handler(chatRequest({}, "sk-1"))).status).toBe(503);
    expect(test.warnings).toMatchObject([{ code: "key_store_failed" }]);
  });
});

describe("an amount that is too large to count is refused where it comes in", () => {
  const refused = new RegExp(`must be at most ${most}`);

  it("as a cap of a key in configuration", () => {
    const key = { key: "sk-1", account: "a", plan: "p" };
    expect(() => memoryKeyStore([{ ...key, credits: { day: 1e308 } }])).toThrow(
      new RegExp(`keys\\[0\\].*credits\\.day: must be at most ${most}`),
    );
    expect(() => memoryKeyStore([{ ...key, credits: { day: 9_007_199_254 } }])).not.toThrow();
  });

  it("as a window of a plan in configuration", async () => {
    const p = { models: [], credits: { week: 1e308 } };
    expect(() => memoryPlanStore({ p })).toThrow(refused);
    const plans = { find: () => null, list: () => [{ id: "p", ...p }] };
    await expect(startTestGateway({ plans })).rejects.toThrow(/createGateway: the plan "p": credits\.week: must be/);
  });

  it("as a cap of a key that is made, changed or put into a store", async () => {
    test = await startTestGateway();
    const { keys } = test.gateway;
    const credits = { month: 1e308 };
    await expect(keys.create({ account: "a", plan: "pro", credits })).rejects.toThrow(refused);
    await expect(keys.update("key_pro", { credits })).rejects.toThrow(refused);
    const store = memoryKeyStore();
    const key = { id: "k", hash: hashKey("sk-k"), hint: "…", account: "a", plan: "p", createdAt: 1 };
    await expect(store.insert({ ...key, credits })).rejects.toThrow(refused);
  });

  it("as a top-up, a hold, its end, and a grant", async () => {
    test = await startTestGateway();
    const { accounts } = test.gateway;
    const micro = /must be at most 9007199254740991/;
    for (const [credits, message] of [
      [{ credits: 1e308 }, refused],
      [{ creditsMicro: 1e308 }, micro],
      [{ creditsMicro: 2 ** 53 }, micro],
    ] as const) {
      await expect(accounts.topUp("acct_pro", { id: "t", ...credits })).rejects.toThrow(message);
      await expect(accounts.hold("acct_pro", { id: "h", ...credits })).rejects.toThrow(message);
      const hold = await accounts.hold("acct_pro", { id: "held", credits: 1 });
      await expect(hold.settle(credits)).rejects.toThrow(message);
    }
    for (const [amountMicro, message] of [
      [1e308, micro],
      [-1e308, /must be at least -9007199254740991/],
      [0.5, /whole number of micro-credits/],
    ] as const) {
      const grant = accounts.grant("acct_pro", { id: "g", window: "month", amountMicro });
      await expect(grant).rejects.toThrow(message);
      await expect(grant).rejects.toBeInstanceOf(TypeError);
    }
  });

  it("as a price, and as what is insured", async () => {
    for (const name of ["input", "cachedInput", "cacheWrite", "output", "reasoning", "request"]) {
      const models = [{ ...smallModel, price: { ...smallModel.price, [name]: 1e10 } }];
      await expect(startTestGateway({ models })).rejects.toThrow(
        new RegExp(`models\\[0\\]\\.price\\.${name}: must be at most ${most}`),
      );
    }
    const ledgerOptions = { onUnavailable: { insure: { credits: 1e308 } } };
    await expect(startTestGateway({ ledger: memoryCreditLedger(), ledgerOptions })).rejects.toThrow(
      new RegExp(`onUnavailable\\.insure\\.credits: must be at most ${most}`),
    );
  });
});
