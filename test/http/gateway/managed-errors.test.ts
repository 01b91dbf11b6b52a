import { afterEach, describe, expect, it, vi } from "vitest";
import { UnknownKeyError, UnknownTermsError } from "../../../src/gateway/admin/errors.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { LedgerConflictError, LedgerInputError } from "../../../src/ledger/credit-ledger.js";
import type { KeyStore } from "../../../src/records/keys/key-store.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(() => test?.close());

async function start(options: Partial<GatewayOptions> = {}) {
  test = await startTestGateway(options);
  return test.gateway;
}

/** A store of the host's own, that cannot write. */
const ownKeys: KeyStore = { find: () => undefined };

describe("a store that cannot write", () => {
  it.each([
    ["create", { account: "a", plan: "pro" }],
    ["get", "key_1"],
    ["list", "a"],
    ["revoke", "key_1"],
    ["rotate", "key_1"],
  ] as const)("makes keys.%s say what to do", async (method, input) => {
    const { keys } = await start({ keys: ownKeys });
    const call = keys[method] as (input: unknown) => Promise<unknown>;
    await expect(call(input)).rejects.toThrow(
      new RegExp(`gateway\\.keys\\.${method}: the gateway's key store lacks .*postgresStores.*WritableKeyStore`),
    );
  });

  it("makes plans.put say what to do", async () => {
    const { plans } = await start({ plans: { find: () => undefined } });
    await expect(plans.put({ id: "p", models: [] })).rejects.toThrow(/plan store lacks `put`.*WritablePlanStore/);
  });

  it("leaves accounts usable, for whoever gives the terms", async () => {
    const { accounts } = await start({ keys: ownKeys });
    await expect(accounts.balance("a", { plan: "pro" })).rejects.toThrow(/give `plan`, and `anchor`/);
    await expect(accounts.balance("a")).rejects.toBeInstanceOf(UnknownTermsError);
    const { windows } = await accounts.balance("a", { plan: "pro", anchor: null });
    expect(windows.month).toMatchObject({ limitMicro: 1500e6, remainingMicro: 1500e6 });
    await accounts.forget("a");
  });
});

describe("keys", () => {
  it.each([
    ["no account", { plan: "pro" }, /account/],
    ["too long an account", { account: "a".repeat(129), plan: "pro" }, /128/],
    ["an expiry in seconds", { account: "a", plan: "pro", expiresAt: 1_900_000_000 }, /expiresAt is in the past/],
    ["an expiry that is no date", { account: "a", plan: "pro", expiresAt: "soon" }, /not a valid date/],
    ["a misspelled member", { account: "a", plan: "pro", model: ["x"] }, /did you mean `models`/],
    ["a restriction that is no list", { account: "a", plan: "pro", models: "acme/*" }, /list of model ids/],
    [
      "too large a cap",
      { account: "a", plan: "pro", credits: { day: 2 ** 53 } },
      /credits\.day: must be at most 9007199254/,
    ],
    ["nothing", undefined, /expected object/],
  ])("are not made with %s", async (_name, input, message) => {
    const { keys } = await start();
    await expect(keys.create(input as never)).rejects.toThrow(message);
    await expect(keys.create(input as never)).rejects.toBeInstanceOf(TypeError);
  });

  it("are refused in one line", async () => {
    const { keys } = await start();
    await expect(keys.create({ account: "", plan: "pro" })).rejects.toThrow(
      /^gateway\.keys\.create: account: must not be empty$/,
    );
    await expect(keys.create({ account: "", plan: "" })).rejects.toThrow(
      /^gateway\.keys\.create:\n✖ account: must not be empty\n✖ plan: must not be empty$/,
    );
  });

  it("that do not exist are an error of its own, in all that changes them", async () => {
    const { keys } = await start();
    expect(await keys.get("key_none")).toBeUndefined();
    for (const call of [keys.revoke("key_none"), keys.rotate("key_none"), keys.update("key_none", {})]) {
      await expect(call).rejects.toBeInstanceOf(UnknownKeyError);
    }
  });

  it("cannot be given back by an update what a revocation took", async () => {
    const { keys } = await start();
    await expect(keys.update("key_pro", { revokedAt: null } as never)).rejects.toThrow(/no member `revokedAt`/);
    await expect(keys.rotate("key_pro", { graceMs: -1 })).rejects.toThrow(/graceMs/);
  });

  it("of a plan that is not there are made, with a warning that names those that are", async () => {
    const { keys, plans } = await start();
    const { id, plan } = await keys.create({ account: "a", plan: "prro" });
    expect(plan).toBe("prro");
    expect(test?.warnings).toEqual([
      {
        code: "unknown_plan",
        message:
          'gateway.keys.create: there is no plan "prro", so its callers see no model until it is made. There are: "pro", "basic".',
      },
    ]);
    await keys.update(id, { plan: "other" });
    expect(test?.warnings[1]).toMatchObject({
      code: "unknown_plan",
      message: expect.stringMatching(/^gateway\.keys\.update: .* "other"/),
    });
    await keys.update(id, { name: "laptop" });
    await plans.put({ id: "other", models: ["acme/*"] });
    await keys.update(id, { plan: "other" });
    await keys.create({ account: "a", plan: "pro" });
    expect(test?.warnings).toHaveLength(2);
  });

  it.each([
    ["fails", () => Promise.reject(new Error("down"))],
    [
      "throws",
      () => {
        throw new Error("down");
      },
    ],
    ["hangs", () => new Promise<never>(() => {})],
  ])("are made without a word about their plan where its store %s", async (_, find) => {
    const { keys } = await start({ keys: memoryKeyStore(), plans: { find }, storeTimeoutMs: 20 });
    expect((await keys.create({ account: "a", plan: "pro" })).plan).toBe("pro");
    expect(test?.warnings).toEqual([]);
  });

  it("are listed in pages", async () => {
    const { keys } = await start();
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) ids.push((await keys.create({ account: "a", plan: "pro" })).id);
    const all = (await keys.list("a")).map(({ id }) => id);
    expect(all.toSorted()).toEqual(ids.toSorted());
    const paged: string[] = [];
    for (let after: string | undefined; paged.length < 5; after = paged.at(-1)) {
      const page = await keys.list("a", { limit: 2, after });
      expect(page.length).toBeLessThanOrEqual(2);
      paged.push(...page.map(({ id }) => id));
    }
    expect(paged).toEqual(all);
    expect(await keys.list("a", { after: all.at(-1) })).toEqual([]);
    await expect(keys.list("a", { after: "key_none" })).rejects.toBeInstanceOf(UnknownKeyError);
  });

  it("of one account count their weeks alike", async () => {
    const { keys } = await start();
    const anchor = Date.UTC(2026, 0, 7);
    await keys.create({ account: "a", plan: "pro", anchor: new Date(anchor) });
    expect((await keys.create({ account: "a", plan: "pro" })).anchor).toBe(anchor);
    expect((await keys.create({ account: "b", plan: "pro" })).anchor).toBeNull();
    expect((await keys.create({ account: "a", plan: "pro", anchor: null })).anchor).toBeNull();
  });

  it("leave no second one behind when a rotation fails half-way", async () => {
    const store = memoryKeyStore();
    let isDown = false;
    const { keys } = await start({
      keys: {
        ...store,
        update: async (id: string, change: object) => {
          if (isDown && !("revokedAt" in change && id !== first)) throw new Error("down");
          return store.update(id, change);
        },
      } as typeof store,
    });
    const { id: first } = await keys.create({ account: "a", plan: "pro" });
    isDown = true;
    await expect(keys.rotate(first)).rejects.toMatchObject({ status: 503, cause: { message: "down" } });
    const inForce = (await keys.list("a")).filter(({ revokedAt }) => revokedAt === null);
    expect(inForce.map(({ id }) => id)).toEqual([first]);
  });

  it("that are revoked while they are rotated stay revoked, whatever the time of grace", async () => {
    const store = memoryKeyStore();
    let meanwhile: (() => Promise<unknown>) | undefined;
    const gateway = await start({
      keys: {
        ...store,
        async get(id: string) {
          const key = await store.get(id);
          const once = meanwhile;
          meanwhile = undefined;
          await once?.();
          return key;
        },
      } as typeof store,
    });
    const { keys } = gateway;
    const { id, secret } = await keys.create({ account: "a", plan: "pro" });
    let revokedAt: number | null = null;
    meanwhile = async () => {
      ({ revokedAt } = await keys.revoke(id));
    };
    await keys.rotate(id, { graceMs: 3_600_000 });
    expect((await keys.get(id))?.revokedAt).toBe(revokedAt);
    expect((await gateway.handler(chatRequest({}, secret))).status).toBe(401);
  });

  it("that are mistyped are refused without asking the store, and the host's own are asked for", async () => {
    const store = memoryKeyStore([{ key: "sk-ours", account: "a", plan: "pro" }]);
    const find = vi.fn(store.find);
    const gateway = await start({ keys: { ...store, find }, cacheTtlMs: 0, negativeCacheTtlMs: 0 });
    const { secret } = await gateway.keys.create({ account: "a", plan: "pro" });
    const last = secret.at(-1) === "a" ? "b" : "a";
    for (const key of [secret.slice(0, -1) + last, secret.slice(0, -1), `${secret}a`, "sk-ig-"]) {
      const response = await gateway.handler(chatRequest({}, key));
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([
        401,
        'Bearer realm="infergate", error="invalid_token"',
      ]);
      expect(await response.text()).not.toContain(key);
    }
    expect(find).not.toHaveBeenCalled();
    for (const key of [secret, "sk-ours"]) expect((await gateway.handler(chatRequest({}, key))).status).toBe(200);
    expect((await gateway.handler(chatRequest({}, "sk-theirs"))).status).toBe(401);
    expect(find).toHaveBeenCalledTimes(3);
  });
});

describe("accounts", () => {
  it("have the plan of their keys in force, unless these differ", async () => {
    const { keys, accounts } = await start();
    const basic = await keys.create({ account: "a", plan: "basic" });
    await keys.create({ account: "a", plan: "pro" });
    await expect(accounts.balance("a")).rejects.toThrow(/differ in their plan\. Give `plan`/);
    expect((await accounts.balance("a", { plan: "basic" })).plan).toBe("basic");
    await keys.revoke(basic.id);
    expect((await accounts.balance("a")).plan).toBe("pro");
    await expect(accounts.balance("a", { plan: "none" })).rejects.toThrow(/no plan "none"/);
    await expect(accounts.balance("none")).rejects.toThrow(/balance: the account has no keys\. Give `plan`/);
    for (const unknown of [
      accounts.balance("none"),
      accounts.grant("none", { id: "g", window: "week", amountMicro: 1 }),
      accounts.balance("a", { plan: "none" }),
    ]) {
      await expect(unknown).rejects.toBeInstanceOf(UnknownTermsError);
    }
    await keys.create({ account: "a", plan: "pro", anchor: 0 });
    await expect(accounts.balance("a")).rejects.toThrow(/differ in their anchor\. Give `anchor`/);
  });

  it("without keys begin their weeks and months by the calendar, once their plan is told", async () => {
    const { accounts } = await start();
    const now = new Date();
    const month = { startsAt: Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) };
    expect((await accounts.balance("none", { plan: "pro" })).windows.month).toMatchObject(month);
    const grant = { id: "g", window: "month", amountMicro: 5, plan: "pro" } as const;
    expect((await accounts.grant("none", grant)).windows.month).toMatchObject({ ...month, bonusMicro: 5 });
    expect((await accounts.balance("none", { plan: "pro", anchor: null })).windows.month.bonusMicro).toBe(5);
    // One error names all that is missing.
    for (const terms of [{}, { anchor: null }]) {
      await expect(accounts.balance("none", terms)).rejects.toThrow(/no keys\. Give `plan`, and `anchor` unless/);
    }
  });

  it("with keys have the anchor of these, also where a plan is given", async () => {
    const { keys, accounts } = await start();
    const anchor = Date.UTC(2026, 0, 7, 13);
    const first = await keys.create({ account: "a", plan: "basic", anchor });
    const { windows } = await accounts.balance("a", { plan: "pro" });
    expect(new Date(windows.month.startsAt ?? 0).getUTCHours()).toBe(13);
    await keys.create({ account: "a", plan: "pro", anchor: 0 });
    await expect(accounts.balance("a")).rejects.toThrow(/differ in their plan and anchor\. Give `plan` and `anchor`/);
    await expect(accounts.balance("a", { plan: "pro" })).rejects.toThrow(/differ in their anchor\. Give `anchor`/);
    await keys.revoke(first.id);
    expect((await accounts.balance("a")).plan).toBe("pro");
  });

  it.each([
    ["another unit", { id: "g", window: "week", amount: 5 }, /`amount` \(did you mean `amountMicro`\?\)/],
    ["a part of a micro-credit", { id: "g", window: "week", amountMicro: 0.5 }, /1 credit = 1,000,000/],
    ["no id", { window: "week", amountMicro: 5 }, /id/],
    ["no such window", { id: "g", window: "day", amountMicro: 5 }, /window/],
  ])("are granted nothing with %s", async (_name, grant, message) => {
    const { accounts } = await start();
    await expect(accounts.grant("acct_pro", grant as never)).rejects.toThrow(message);
  });

  it("are named once", async () => {
    const { accounts, keys } = await start();
    const other = { account: "acct_basic" } as object;
    for (const call of [
      accounts.balance("acct_pro", other),
      accounts.grant("acct_pro", { id: "g", window: "week", amountMicro: 5, ...other }),
      accounts.topUp("acct_pro", { id: "t", credits: 5, ...other }),
      accounts.history("acct_pro", other),
      accounts.usage("acct_pro", other),
      keys.list("acct_pro", other),
    ]) {
      await expect(call).rejects.toThrow("There is no member `account`: the account is the first argument.");
    }
  });

  it("pass on what the ledger refuses", async () => {
    const { accounts } = await start();
    const session = { id: "g1", window: "session", amountMicro: 5 } as const;
    await expect(accounts.grant("acct_pro", session)).rejects.toBeInstanceOf(LedgerInputError);
    await accounts.grant("acct_pro", { id: "g2", window: "week", amountMicro: 5 });
    const other = accounts.grant("acct_pro", { id: "g2", window: "week", amountMicro: 6 });
    await expect(other).rejects.toBeInstanceOf(LedgerConflictError);
    await expect(accounts.reset("acct_pro", ["day"] as never)).rejects.toThrow(/windows/);
    await expect(accounts.history("acct_pro", { limit: 1001 })).rejects.toThrow(/limit/);
    await expect(accounts.usage("")).rejects.toThrow(/account/);
  });

  it("refuse absurd pages, moments and anchors as the caller's mistakes", async () => {
    const { accounts, keys } = await start();
    const moments = [1e300, -1e300, 2 ** 53, 8.64e15 + 1, Number.NaN, Infinity, "9".repeat(99), new Date(Number.NaN)];
    for (const moment of moments) {
      for (const call of [
        accounts.history("acct_pro", { from: moment }),
        accounts.usage("acct_pro", { to: moment }),
        accounts.balance("acct_pro", { plan: "pro", anchor: moment }),
        keys.create({ account: "a", plan: "pro", anchor: moment }),
        keys.create({ account: "a", plan: "pro", expiresAt: moment }),
        keys.update("key_pro", { expiresAt: moment }),
        keys.rotate("key_pro", { expiresAt: moment }),
        keys.rotate("key_pro", { graceMs: moment as number }),
      ]) {
        await expect(call).rejects.toBeInstanceOf(TypeError);
      }
    }
    for (const limit of [0, -1, 1.5, 1e300, Number.NaN]) {
      await expect(accounts.history("acct_pro", { limit })).rejects.toBeInstanceOf(TypeError);
      await expect(keys.list("acct_pro", { limit })).rejects.toBeInstanceOf(TypeError);
    }
    await expect(accounts.history("acct_pro", { cursor: "9223372036854775808" })).rejects.toBeInstanceOf(
      LedgerInputError,
    );
    for (const anchor of [-8.64e15, 8.64e15, "+275760-09-13T00:00:00Z"]) {
      const { windows } = await accounts.balance("acct_pro", { plan: "pro", anchor });
      expect(windows.month.usedMicro).toBe(0);
    }
  });

  it("have no history where the ledger keeps no journal", async () => {
    const { accounts } = await start({ ledger: memoryCreditLedger({ historyEntries: 0 }) });
    for (const call of [accounts.history("a"), accounts.usage("a")]) {
      await expect(call).rejects.toThrow(/keeps no journal\. Use .*historyEntries above 0/);
    }
  });
});

describe("plans", () => {
  it.each([undefined, null, "", 5, "\ud800"])("of the id %o are a mistake", async (id) => {
    const { plans } = await start();
    await expect(plans.get(id as never)).rejects.toThrow(/^gateway\.plans\.get: id: /);
    await expect(plans.delete(id as never)).rejects.toThrow(/^gateway\.plans\.delete: id: /);
  });

  it("of more credits than can be counted say which window has them", async () => {
    const { plans } = await start();
    const plan = { id: "p", models: [], credits: { week: 9_007_199_255 } };
    await expect(plans.put(plan)).rejects.toThrow(/credits\.week: must be at most 9007199254/);
    await plans.put({ ...plan, credits: { week: 9_007_199_254 } });
  });

  it.each([
    ["a misspelled window", { id: "p", models: [], credits: { weak: 1 } }, /weak/],
    ["a misspelled member", { id: "p", models: [], credit: {} }, /credit/],
    ["no id", { models: [] }, /id/],
    ["more credits than can be counted", { id: "p", models: [], credits: { week: 1e10 } }, /at most 9007199254/],
  ])("are not put with %s", async (_name, plan, message) => {
    const plans = memoryPlanStore();
    const gateway = await start({ plans });
    await expect(gateway.plans.put(plan as never)).rejects.toThrow(message);
    expect(await plans.find("p")).toBeUndefined();
  });
});
