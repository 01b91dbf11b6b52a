import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { shardedLedger } from "../../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { wholeAnswer } from "../../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await test.close();
});

let test: TestGateway;
const hour = 3_600_000;

async function start(options: Partial<GatewayOptions> = {}) {
  test = await startTestGateway({
    plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 10 } } }),
    keys: { find: async () => undefined, list: async () => [] } as never,
    ...options,
  });
  const { accounts } = test.gateway;
  return {
    accounts,
    warnings: () => test.warnings.map(({ code, message }) => `${code}: ${message}`),
    hold: (id: string, credits: number, more: object = {}) =>
      accounts.hold("acct", { id, credits, plan: "pro", anchor: null, ...more }),
    session: async () => {
      const { windows } = await accounts.balance("acct", { plan: "pro", anchor: null });
      return [windows.session.usedMicro, windows.session.heldMicro];
    },
  };
}

describe("a hold of the host's", () => {
  it("is settled once, with its tags in the journal", async () => {
    const { hold, session, accounts } = await start();
    const image = await hold("img_1", 2, { tags: { tool: "image" } });
    expect(image).toMatchObject({ id: "img_1", heldMicro: 2_000_000, funding: "plan" });
    expect(await session()).toEqual([0, 2_000_000]);
    const end = await image.settle({ credits: 1.25 });
    expect(end).toEqual({ status: "settled", chargedMicro: 1_250_000 });
    expect(await image.settle({ credits: 9 })).toBe(end);
    expect(await image.release()).toBe(end);
    expect(await session()).toEqual([1_250_000, 0]);
    const { entries } = await accounts.history("acct");
    expect(entries).toMatchObject([{ id: "hold:img_1", kind: "charge", tags: { "tag.tool": "image" } }]);
    expect(entries[0]?.tags).not.toHaveProperty("model");
    expect(await accounts.usage("acct")).toMatchObject([{ model: null, keyId: null, requests: 1 }]);
    expect(await accounts.usage("acct", { by: ["tool"] })).toMatchObject([
      { by: { tool: "image" }, chargedMicro: 1_250_000 },
    ]);
    expect(test.warnings).toEqual([]);
  });

  it("is given back, and may cost more than it holds", async () => {
    const { hold, session } = await start();
    expect(await (await hold("a", 2)).release()).toEqual({ status: "settled", chargedMicro: 0 });
    expect(await session()).toEqual([0, 0]);
    await (await hold("b", 2)).settle({ creditsMicro: 2_000_001 });
    expect(await session()).toEqual([2_000_001, 0]);
  });

  it.each([
    [undefined, "expected object"],
    [null, "expected object"],
    [{}, "give `credits`"],
    [{ credits: null }, "credits: expected number"],
    [{ creditsMicro: null }, "creditsMicro: expected number"],
    [{ credits: "1" }, "credits: expected number"],
    [{ credits: 1n }, "credits: expected number"],
    [{ credits: Number.NaN }, "received NaN"],
    [{ credits: Number.POSITIVE_INFINITY }, "received Infinity"],
    [{ credits: -1 }, "must not be negative"],
    [{ credits: 1e-7 }, "whole number of micro-credits"],
    [{ credits: 1, creditsMicro: 1_000_000 }, "not both"],
    [{ credits: 1, tags: { tool: "image" } }, "no member `tags`"],
  ])("is not settled by %o, and can be settled after", async (cost, problem) => {
    const { hold, session } = await start();
    const image = await hold("img_1", 2);
    const settled = image.settle(cost as never);
    await expect(settled).rejects.toThrow(TypeError);
    await expect(settled).rejects.toThrow(/^hold\.settle: /);
    await expect(settled).rejects.toThrow(problem);
    expect(await session()).toEqual([0, 2_000_000]);
    expect(await image.settle({ credits: 1 })).toEqual({ status: "settled", chargedMicro: 1_000_000 });
  });

  it.each([
    [{ tags: JSON.parse('{"__proto__":"x"}') }, "__proto__"],
    [{ account: "other" }, "the account is the first argument"],
  ])("is not made with %o", async (more, problem) => {
    const { hold } = await start();
    const held = hold("a", 1, more);
    await expect(held).rejects.toThrow(TypeError);
    await expect(held).rejects.toThrow(problem);
  });

  it("is denied as a call is", async () => {
    const { hold } = await start();
    await (await hold("a", 10)).settle({ credits: 10 });
    const denied = hold("b", 1);
    await expect(denied).rejects.toMatchObject({ status: 429, code: "session_limit_exceeded" });
    await expect(hold("c", 1, { plan: "none" })).rejects.toThrow('there is no plan "none". Make it, or give');
    await expect(hold("d", -1)).rejects.toThrow(TypeError);
    await expect(hold("e", 1, { tags: { funding: "x" } })).rejects.toThrow("reserved");
  });

  it("uses prepaid credits when the plan's are used up", async () => {
    const { hold, accounts } = await start();
    await (await hold("a", 10)).settle({ credits: 10 });
    await accounts.topUp("acct", { id: "pay", credits: 3 });
    const image = await hold("b", 2);
    expect(image.funding).toBe("prepaid");
    await image.settle({ credits: 1 });
    const { prepaid } = await accounts.balance("acct", { plan: "pro", anchor: null });
    expect(prepaid).toMatchObject({ balanceMicro: 2_000_000, heldMicro: 0 });
  });

  it("is its account's own where another account has one of the same id", async () => {
    const shards = { one: memoryCreditLedger(), two: memoryCreditLedger() };
    // As in Redis, ids are unique within an account only.
    const ledger = shardedLedger({ shards, shardOf: (account) => (account === "acct" ? "one" : "two") });
    const { hold, accounts, session } = await start({ ledger });
    await hold("image_1", 2);
    const terms = { plan: "pro", anchor: null };
    const others = await accounts.hold("other", { id: "image_1", credits: 2, ...terms });
    await (await hold("image_1", 2)).settle({ credits: 1 });
    expect(await session()).toEqual([1_000_000, 0]);
    expect((await accounts.balance("other", terms)).windows.session).toMatchObject({ usedMicro: 0 });
    await others.settle({ credits: 2 });
    await hold("image_2", 3);
    await accounts.hold("other", { id: "image_2", credits: 3, ...terms });
    await test.gateway.close();
    expect(await session()).toEqual([1_000_000, 0]);
    expect((await accounts.balance("other", terms)).windows.session).toMatchObject({ heldMicro: 0 });
  });

  it("is the same one for the same id, and a conflict for another amount", async () => {
    const { hold, session } = await start();
    const image = await hold("img_1", 2);
    expect(await hold("img_1", 2)).toBe(image);
    expect(await session()).toEqual([0, 2_000_000]);
    await expect(hold("img_1", 3)).rejects.toMatchObject({ name: "LedgerConflictError" });
    await image.settle({ credits: 1 });
    const again = await hold("img_1", 2);
    expect(await again.settle({ credits: 1 })).toEqual({ status: "duplicate", chargedMicro: 0 });
    expect(await session()).toEqual([1_000_000, 0]);
  });

  it("is the same one for the same id, also where the ledger has not yet responded to the first", async () => {
    const ledger = memoryCreditLedger();
    let calls = 0;
    let respond = (): void => {};
    const first = new Promise<void>((resolve) => {
      respond = resolve;
    });
    const { hold, session } = await start({
      ledger: {
        ...ledger,
        async reserve(request) {
          const result = ledger.reserve(request);
          if (calls++ === 0) await first;
          return result;
        },
      },
      ledgerOptions: { reserveTimeoutMs: 10_000 },
    });
    const asked = [hold("img_1", 2), hold("img_1", 2)];
    await vi.advanceTimersByTimeAsync(10);
    respond();
    const [one, other] = await Promise.all(asked);
    expect(other).toBe(one);
    await one?.settle({ credits: 1 });
    expect(await session()).toEqual([1_000_000, 0]);
    await vi.advanceTimersByTimeAsync(2 * hour);
    expect(test.warnings).toEqual([]);
  });

  it("does not meet a call with its id", async () => {
    const { accounts } = await start({ keys: memoryKeyStore([{ key: "sk-pro", account: "acct", plan: "pro" }]) });
    test.upstream.reply(wholeAnswer());
    expect((await test.gateway.handler(chatRequest())).status).toBe(200);
    const { callId = "", heldMicro = 0 } = test.events[0] ?? {};
    const image = await accounts.hold("acct", { id: callId, creditsMicro: heldMicro });
    expect(await image.settle({ credits: 1 })).toEqual({ status: "settled", chargedMicro: 1_000_000 });
  });

  it("is renewed, for an hour at most; a later settlement is still charged", async () => {
    const { hold, session, warnings } = await start();
    const image = await hold("img_1", 2);
    await vi.advanceTimersByTimeAsync(hour - 1000);
    expect(await session()).toEqual([0, 2_000_000]);
    expect(warnings()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(warnings()).toEqual([expect.stringMatching(/^hold_unsettled: The hold "img_1" of .* 3600000 ms/)]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await session()).toEqual([0, 0]);
    expect(await image.settle({ credits: 1 })).toEqual({ status: "late", chargedMicro: 1_000_000 });
    expect(await session()).toEqual([1_000_000, 0]);
  });

  it("ends when the gateway closes, with a warning", async () => {
    const { hold, session, warnings } = await start();
    const image = await hold("img_1", 2);
    const settled = await hold("img_2", 1);
    await settled.settle({ credits: 1 });
    await test.gateway.close();
    expect(await session()).toEqual([1_000_000, 0]);
    expect(warnings()).toEqual([expect.stringMatching(/^hold_unsettled: The hold "img_1" .* closed/)]);
    expect(await image.settle({ credits: 1 })).toEqual({ status: "settled", chargedMicro: 0 });
    await expect(hold("img_3", 1)).rejects.toMatchObject({ status: 503 });
  });

  it("is a 503 where the ledger fails, and its end is kept where that does not get through", async () => {
    vi.useRealTimers();
    const ledger = memoryCreditLedger();
    let isAway = true;
    const answer = <Result>(send: () => Promise<Result>): Promise<Result> =>
      isAway ? Promise.reject(new Error("away")) : send();
    const { hold, session, warnings } = await start({
      ledger: {
        ...ledger,
        reserve: (request) => answer(() => ledger.reserve(request)),
        settle: (lease, settlement) => answer(() => ledger.settle(lease, settlement)),
      },
    });
    await expect(hold("a", 1)).rejects.toMatchObject({ status: 503 });
    expect(warnings()[0]).toContain("ledger_failed: The ledger failed to hold credits");
    isAway = false;
    const image = await hold("a", 1);
    isAway = true;
    expect(await image.settle({ credits: 1 })).toEqual({ status: "kept", chargedMicro: 1_000_000 });
    isAway = false;
    await vi.waitFor(async () => expect(await session()).toEqual([1_000_000, 0]));
  });

  it("is refused for a suspended account", async () => {
    const { hold, accounts } = await start({ accounts: memoryAccountStore() });
    await accounts.put({ id: "acct", plan: "pro" });
    await accounts.suspend("acct", { message: "Your invoice is overdue." });
    await expect(hold("a", 1)).rejects.toMatchObject({ status: 403, code: "account_suspended" });
  });
});
