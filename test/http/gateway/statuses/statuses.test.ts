import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import {
  AccountConflictError,
  GatewayError,
  KeyEndedError,
  LedgerConflictError,
  LedgerInputError,
  LedgerUnavailableError,
  UnknownAccountError,
  UnknownKeyError,
  UnknownPlanError,
  UnknownTermsError,
} from "../../../../src/index.js";
import type { PlanStore } from "../../../../src/records/plans/plan-store.js";
import { memoryAuditTrail } from "../../../../src/stores/memory/memory-audit-trail.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import {
  memoryAccountStore,
  memoryBudgetStore,
  memoryKeyStore,
  memoryModelStore,
} from "../../../../src/stores/memory/memory-stores.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";
import { type Act, type ErrorHost, errorHosts } from "./hosts.js";
import { type Area, callMethod, methodsOf, validInput } from "./methods.js";

const accountsOfTest = () => memoryAccountStore([{ id: "acct_pro", plan: "pro" }]);
const tests: TestGateway[] = [];
afterEach(async () => {
  for (const test of tests.splice(0)) await test.close();
});

async function start(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const test = await startTestGateway({
    accounts: accountsOfTest(),
    budgets: memoryBudgetStore(),
    modelStore: memoryModelStore(),
    requestLog: memoryRequestLog(),
    audit: memoryAuditTrail(),
    ...options,
  });
  tests.push(test);
  return test.gateway;
}

/** What a driver's error may say, and no client may read. */
const secret = "connect ECONNREFUSED 10.1.2.3:5432, user app, password hunter2";
/** A driver's error may have a status of its own, that is none of the client's. */
const down = () => Promise.reject(Object.assign(new Error(secret), { status: 401, code: "ECONNREFUSED" }));

/** A store of which every method fails. */
function away<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => (typeof Reflect.get(target, name) === "function" ? down : Reflect.get(target, name)),
  });
}

const hosts = new Map<string, ErrorHost>();
beforeAll(async () => {
  // Express writes errors there.
  vi.spyOn(console, "error").mockImplementation(() => {});
  for (const [name, startHost] of Object.entries(errorHosts)) hosts.set(name, await startHost());
});
afterAll(async () => {
  vi.restoreAllMocks();
  for (const host of hosts.values()) await host.close();
});

/** The framework's own error handling responds with the status, and tells nothing of the host. */
async function expectResponse(act: Act, status: number, message: RegExp = /^/): Promise<void> {
  for (const [name, host] of hosts) {
    const { status: said, headers, text } = await host.run(act);
    expect([name, said, text]).toEqual([name, status, text]);
    expect(text).not.toContain("hunter2");
    expect(text).not.toContain("10.1.2.3");
    if (name !== "Fastify 5") continue;
    expect(headers.get("content-type")).toMatch(/^application\/json/);
    expect(JSON.parse(text)).toMatchObject({ statusCode: status, message: expect.stringMatching(message) });
  }
}

const failureOf = async (act: Act): Promise<unknown> => {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail.");
};

describe("every method of the management API", () => {
  it("has an input here that it takes", async () => {
    const gateway = await start();
    expect(methodsOf(gateway)).toEqual(
      (Object.keys(validInput) as Area[]).flatMap((area) => Object.keys(validInput[area]).map((name) => [area, name])),
    );
    for (const [area, method] of methodsOf(gateway)) {
      await callMethod(gateway, area, method, validInput[area][method] ?? []);
    }
  });

  it("makes a mistake of the caller's a TypeError, and a 400", async () => {
    const gateway = await start();
    const wrong = ["", undefined, null, 5, "\ud800", {}, [], { limit: 0 }];
    for (const [area, method] of methodsOf(gateway)) {
      if (["plans.list", "models.list", "models.check"].includes(`${area}.${method}`)) continue;
      for (const input of wrong) {
        const isPage = method === "list" && ["accounts", "audit", "requests"].includes(area);
        if (isPage && (input === undefined || (typeof input === "object" && !("limit" in (input ?? {}))))) continue;
        const error = await failureOf(() => callMethod(gateway, area, method, [input, {}]));
        expect([area, method, input, error]).toEqual([area, method, input, expect.any(TypeError)]);
        expect(error).toMatchObject({ name: "TypeError", status: 400, statusCode: 400 });
      }
      const start = new RegExp(`^gateway\\.${area}\\.${method}:`);
      await expectResponse(() => callMethod(gateway, area, method, [{ limit: 0 }, {}]), 400, start);
    }
  });

  it("is a 503 where a store is away, and keeps the store's words to its cause", async () => {
    const gateway = await start({
      keys: away(memoryKeyStore()),
      accounts: away(accountsOfTest()),
      audit: away(memoryAuditTrail()),
      modelStore: away(memoryModelStore()),
      plans: { find: down, put: down, listAll: down, delete: down } as PlanStore,
      ledger: away(memoryCreditLedger()),
      budgets: away(memoryBudgetStore()),
      requestLog: away(memoryRequestLog()),
    });
    for (const [area, method] of methodsOf(gateway)) {
      const act = () => callMethod(gateway, area, method, validInput[area][method] ?? []);
      const error = await failureOf(act);
      expect([area, method, error]).toMatchObject([area, method, { status: 503, statusCode: 503 }]);
      await expectResponse(act, 503);
    }
  });
});

type ErrorClass = abstract new (...args: never[]) => Error;
type Prepare = (gateway: Gateway) => unknown;

/** What is refused: what is done before, what then fails, as which error. */
const refusals: readonly (readonly [string, Prepare, ErrorClass, number, RegExp, Prepare?])[] = [
  [
    "a key that is not there",
    ({ keys }) => keys.revoke("key_none"),
    UnknownKeyError,
    404,
    /no key of the id "key_none"/,
  ],
  ["a key that is not there, rotated", ({ keys }) => keys.rotate("key_none"), UnknownKeyError, 404, /key_none/],
  ["a key that is not there, changed", ({ keys }) => keys.update("key_none", {}), UnknownKeyError, 404, /key_none/],
  ["a page after no key", ({ keys }) => keys.list("acct_pro", { after: "key_none" }), UnknownKeyError, 404, /key_none/],
  ["a key for no account", ({ keys }) => keys.create({ account: "none" }), UnknownAccountError, 404, /"none"/],
  ["no account, changed", ({ accounts }) => accounts.update("none", {}), UnknownAccountError, 404, /"none"/],
  ["no account, suspended", ({ accounts }) => accounts.suspend("none"), UnknownAccountError, 404, /"none"/],
  ["no account, resumed", ({ accounts }) => accounts.resume("none"), UnknownAccountError, 404, /"none"/],
  [
    "no account's balance",
    ({ accounts }) => accounts.balance("none"),
    UnknownAccountError,
    404,
    /neither a record nor/,
  ],
  [
    "a grant to no account",
    ({ accounts }) => accounts.grant("none", { id: "g", window: "week", amountMicro: 1 }),
    UnknownAccountError,
    404,
    /neither a record nor keys/,
  ],
  [
    "a hold of no account",
    ({ accounts }) => accounts.hold("none", { id: "h", credits: 1 }),
    UnknownAccountError,
    404,
    /neither a record nor keys/,
  ],
  [
    "a top-up of no account",
    ({ accounts }) => accounts.topUp("none", { id: "t", credits: 1 }),
    UnknownAccountError,
    404,
    /neither a record nor keys/,
  ],
  [
    "a deduction from no account",
    ({ accounts }) => accounts.deduct("none", { id: "t", credits: 1 }),
    UnknownAccountError,
    404,
    /neither a record nor keys/,
  ],
  [
    "a balance under no plan",
    ({ accounts }) => accounts.balance("acct_pro", { plan: "none" }),
    UnknownPlanError,
    404,
    /no plan "none"/,
  ],
  [
    "a balance of keys that differ",
    ({ accounts }) => accounts.balance("two"),
    UnknownTermsError,
    400,
    /differ in their plan\. Give `plan`/,
    async ({ keys }) => {
      await keys.create({ account: "two", plan: "pro" });
      await keys.create({ account: "two", plan: "basic" });
    },
  ],
  [
    "a session's grant while none is open",
    ({ accounts }) => accounts.grant("acct_pro", { id: "g", window: "session", amountMicro: 1 }),
    LedgerInputError,
    400,
    /no open session/,
  ],
  [
    "a top-up by the id of another",
    ({ accounts }) => accounts.topUp("acct_pro", { id: "t", credits: 2 }),
    LedgerConflictError,
    409,
    /another amount/,
    ({ accounts }) => accounts.topUp("acct_pro", { id: "t", credits: 1 }),
  ],
  [
    "an account of another version",
    ({ accounts }) => accounts.put({ id: "acct_pro", plan: "pro" }, { expected: null }),
    AccountConflictError,
    409,
    /is there already/,
  ],
  [
    "a rotation of a revoked key",
    ({ keys }) => keys.rotate("key_pro"),
    KeyEndedError,
    409,
    /revoked or expired/,
    ({ keys }) => keys.revoke("key_pro"),
  ],
  [
    "a hold of a suspended account",
    ({ accounts }) => accounts.hold("acct_pro", { id: "h", credits: 1 }),
    GatewayError,
    403,
    /^Not paid\.$/,
    ({ accounts }) => accounts.suspend("acct_pro", { message: "Not paid." }),
  ],
  [
    "a hold of what is used up",
    ({ accounts }) => accounts.hold("acct_pro", { id: "h2", credits: 1 }),
    GatewayError,
    429,
    /credits/,
    ({ accounts }) => accounts.hold("acct_pro", { id: "h1", credits: 100 }),
  ],
  ["a caller without an account", (gateway) => gateway.as({} as never), TypeError, 400, /^gateway\.as: account/],
  ["the usage of no account", (gateway) => gateway.as({ account: "none" }).usage(), GatewayError, 403, /no plan yet/],
  [
    "a catalog that is not valid",
    (gateway) => gateway.update({ models: [{}] as never }),
    TypeError,
    400,
    /models\[0\]/,
  ],
  [
    "a change after the end",
    (gateway) => gateway.update({}),
    GatewayError,
    503,
    /closed/,
    (gateway) => gateway.close(),
  ],
];

describe("a refusal of the management API", () => {
  const named = refusals.map(([name, ...refusal]) => ({ name, refusal }));
  it.each(named)("has a status: $name", async ({ refusal: [act, errorClass, status, message, prepare] }) => {
    const gateway = await start();
    await prepare?.(gateway);
    const error = await failureOf(() => act(gateway));
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toMatchObject({ status, statusCode: status, message: expect.stringMatching(message) });
    await expectResponse(() => act(gateway), status, message);
  });

  it("brings its headers: a client learns when to come back", async () => {
    const gateway = await start();
    await gateway.accounts.hold("acct_pro", { id: "h1", credits: 100 });
    const act = () => gateway.accounts.hold("acct_pro", { id: "h2", credits: 1 });
    for (const host of hosts.values())
      expect(Number((await host.run(act)).headers.get("retry-after"))).toBeGreaterThan(0);
  });

  it("does not repeat a key that was taken for its id", async () => {
    const gateway = await start();
    const { secret } = await gateway.keys.create({ account: "acct_pro" });
    for (const wrong of [secret, "sk-theirs"]) {
      const act = () => gateway.keys.revoke(wrong);
      expect(String(await failureOf(act))).not.toContain(wrong);
      await expectResponse(act, 404, /looks like a key itself\. Give its `id`/);
    }
  });

  it.each([
    ["keys", { keys: { find: () => undefined } }, (gateway: Gateway) => gateway.keys.get("key_1")],
    ["plans", { plans: { find: () => undefined } }, (gateway: Gateway) => gateway.plans.put({ id: "p", models: [] })],
    ["accounts", { accounts: { find: () => undefined } }, (gateway: Gateway) => gateway.accounts.list()],
    ["versions", {}, (gateway: Gateway) => gateway.accounts.put({ id: "a", plan: "p" }, { expected: "1" })],
    [
      "a journal",
      { ledger: memoryCreditLedger({ historyEntries: 0 }) },
      (gateway: Gateway) => gateway.accounts.history("a"),
    ],
  ] as const)("is a 501 where the store cannot do it: %s", async (what, options, act) => {
    const { find, put } = accountsOfTest();
    const own = what === "versions" ? { accounts: { find, put } } : options;
    const gateway = await start(own as Partial<GatewayOptions>);
    expect(await failureOf(() => act(gateway))).toBeInstanceOf(TypeError);
    await expectResponse(() => act(gateway), 501, /^gateway\./);
  });

  it("of a hold's end is a 503 while the ledger is away, and the end can be sent again", async () => {
    const store = memoryCreditLedger();
    let isAway = true;
    const settle: typeof store.settle = (...args) => (isAway ? down() : store.settle(...args));
    const release: typeof store.release = (...args) => (isAway ? down() : store.release(...args));
    const ledger = new Proxy(store, {
      get: (target, name) => {
        if (name === "settle") return settle;
        if (name === "release") return release;
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const gateway = await start({ ledger });
    const hold = await gateway.accounts.hold("acct_pro", { id: "h", credits: 1 });
    for (const act of [() => hold.settle({ credits: 1 }), () => hold.release()]) {
      expect(await failureOf(act)).toBeInstanceOf(LedgerUnavailableError);
      await expectResponse(act, 503, /^hold\.(?:settle|release): the ledger failed/);
    }
    await expectResponse(() => hold.settle({ credits: -1 }), 400, /^hold\.settle: `credits` must not be negative/);
    isAway = false;
    expect(await hold.settle({ credits: 1 })).toMatchObject({ chargedMicro: 1e6 });
  });
});
