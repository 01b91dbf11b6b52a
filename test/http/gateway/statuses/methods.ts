import type { Gateway } from "../../../../src/gateway/gateway.js";

/** The parts of the management API that keep things. */
export type Area = "keys" | "plans" | "models" | "budgets" | "accounts" | "requests" | "audit";

/** What each method is called with, to succeed on the gateway of the tests. */
export const validInput: Readonly<Record<Area, Readonly<Record<string, readonly unknown[]>>>> = {
  keys: {
    create: [{ account: "acct_pro", plan: "pro" }],
    get: ["key_pro"],
    list: ["acct_pro"],
    balance: ["key_pro"],
    revoke: ["key_narrow"],
    rotate: ["key_pro"],
    update: ["key_pro", { name: "laptop" }],
  },
  plans: { get: ["pro"], list: [], delete: ["new"], put: [{ id: "new", models: ["acme/*"] }] },
  models: {
    put: [{ id: "acme/small", disabled: true }],
    remove: ["acme/small"],
    get: ["acme/small"],
    list: [],
    check: [{ id: "acme/small", disabled: true }],
  },
  budgets: {
    put: ["acct_pro", { tag: "member", value: "42" }],
    get: ["acct_pro", { tag: "member", value: "42" }],
    remove: ["acct_pro", { tag: "member", value: "42" }],
    list: ["acct_pro"],
    balance: ["acct_pro", { tag: "member", value: "42" }],
  },
  accounts: {
    put: [{ id: "acct_new", plan: "pro" }],
    update: ["acct_pro", { plan: "pro" }],
    get: ["acct_pro"],
    list: [{}],
    suspend: ["acct_new"],
    resume: ["acct_new"],
    topUp: ["acct_pro", { id: "payment", credits: 5 }],
    deduct: ["acct_pro", { id: "refund", credits: 1 }],
    hold: ["acct_pro", { id: "image", credits: 1 }],
    balance: ["acct_pro"],
    grant: ["acct_pro", { id: "gift", window: "week", amountMicro: 5 }],
    reset: ["acct_pro"],
    history: ["acct_pro"],
    statement: ["acct_pro"],
    usage: ["acct_pro"],
    forget: ["acct_new"],
  },
  audit: { list: [] },
  requests: { list: [{}], get: ["req_1"] },
};

/** All methods, as `[area, method]`. A new one needs its input above. */
export function methodsOf(gateway: Gateway): readonly (readonly [Area, string])[] {
  const areas = Object.keys(validInput) as Area[];
  return areas.flatMap((area) =>
    Object.entries(gateway[area]).flatMap(([name, member]) =>
      typeof member === "function" ? [[area, name] as const] : [],
    ),
  );
}

export function callMethod(gateway: Gateway, area: Area, method: string, input: readonly unknown[]): Promise<unknown> {
  const methods = gateway[area] as unknown as Record<string, (...args: readonly unknown[]) => Promise<unknown>>;
  const call = methods[method];
  if (call === undefined) throw new Error(`There is no ${area}.${method}.`);
  return call(...input);
}
