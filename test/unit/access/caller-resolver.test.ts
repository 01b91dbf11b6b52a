import { describe, expect, it } from "vitest";
import { accountLookup } from "../../../src/access/account-lookup.js";
import type { IdentifiedCaller } from "../../../src/access/caller.js";
import { callerResolver } from "../../../src/access/caller-resolver.js";
import type { GatewayWarning } from "../../../src/events/warning.js";
import { Calendar } from "../../../src/ledger/calendar.js";
import { TimeLimit } from "../../../src/ledger/guard/time-limit.js";
import type { AccountRecord } from "../../../src/records/accounts/account-store.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";

const caller: IdentifiedCaller = {
  source: "key",
  keyId: "key_1",
  filedUnder: "key_1",
  account: "a",
  plan: "of the key",
  refusedFrom: Infinity,
  calendar: new Calendar(undefined),
  models: undefined,
};
const clock = new ManualClock(0);

function resolverOf(find: (id: string) => Promise<AccountRecord | undefined> | AccountRecord | undefined) {
  const warnings: GatewayWarning[] = [];
  const warn = (warning: GatewayWarning) => void warnings.push(warning);
  const cache = {
    ttlMs: 1000,
    negativeTtlMs: 1000,
    maxEntries: 10,
    clock,
    timeLimit: new TimeLimit(1000),
    warn,
    warnOnce: warn,
  };
  return { resolve: callerResolver(accountLookup({ find }, { current: new Map() }, cache), warn), warnings };
}

describe("a caller's account", () => {
  it("is resolved without a promise once it is cached, and read once", async () => {
    let reads = 0;
    const { resolve } = resolverOf(async (id) => {
      reads++;
      return { id, plan: "pro", anchor: 5 };
    });
    const first = resolve(caller);
    expect(first).toBeInstanceOf(Promise);
    const known = await first;
    expect(known).toMatchObject({ plan: "pro", account: "a" });
    for (let again = 0; again < 3; again++) {
      const cached = resolve(caller);
      expect(cached).not.toBeInstanceOf(Promise);
      expect(cached).toEqual(known);
    }
    expect(reads).toBe(1);
  });

  it("gives its key the plan that it has now, and the same caller as long as nothing changes", async () => {
    let plan = "pro";
    // A moment of 0 means none to the cache.
    clock.advance(1);
    const { resolve } = resolverOf((id) => ({ id, plan }));
    const first = await resolve(caller);
    expect(await resolve(caller)).toBe(first);
    plan = "basic";
    clock.advance(1001);
    expect(await resolve(caller)).toMatchObject({ plan: "basic", account: "a" });
  });

  it("is resolved without a promise, too, where the cached store does not know it", async () => {
    let reads = 0;
    const { resolve } = resolverOf(async () => {
      reads++;
      return undefined;
    });
    expect(await resolve(caller)).toBe(caller);
    expect(resolve(caller)).toBe(caller);
    expect(reads).toBe(1);
  });

  it("is not looked up where there is no account store", () => {
    expect(callerResolver(undefined, () => {})(caller)).toBe(caller);
  });

  it("does not replace the plan that the host's own code names, but its suspension counts", async () => {
    const own: IdentifiedCaller = { ...caller, source: "in_process", plan: "own" };
    const active = resolverOf((id) => ({ id, plan: "pro" }));
    expect(await active.resolve(own)).toBe(own);
    const suspended = resolverOf((id) => ({ id, plan: "pro", status: "suspended" }));
    await expect(suspended.resolve(own)).rejects.toMatchObject({ status: 403, code: "account_suspended" });
    expect(() => suspended.resolve(own)).toThrow(/suspended/);
  });

  it("restricts every caller of it to its models, also the host's own code", async () => {
    for (const source of ["key", "session", "in_process"] as const) {
      const { resolve, warnings } = resolverOf((id) => ({ id, plan: "pro", models: ["acme/*"] }));
      const { accountModels } = await resolve({ ...caller, source });
      expect([accountModels?.has("acme/small"), accountModels?.has("other")]).toEqual([true, false]);
      expect(warnings).toMatchObject([{ code: "unmatched_account_pattern", message: expect.stringContaining('"a"') }]);
    }
  });

  it.each<[string, unknown]>([
    ["models that are no list", { id: "a", plan: "pro", models: "acme/*" }],
    ["a record without a plan", { id: "a" }],
    ["an unknown status", { id: "a", plan: "pro", status: "banned" }],
    ["an anchor that is no date", { id: "a", plan: "pro", anchor: "soon" }],
  ])("is a 503 with a warning for %s", async (_, record) => {
    const { resolve, warnings } = resolverOf(async () => record as AccountRecord);
    await expect(resolve(caller)).rejects.toMatchObject({ status: 503, code: "service_unavailable" });
    expect(warnings).toMatchObject([{ code: "account_store_failed" }]);
  });

  it("is a 503, and no refusal, while the store fails", async () => {
    const { resolve, warnings } = resolverOf(async () => {
      throw new Error("down: secret");
    });
    await expect(resolve(caller)).rejects.toMatchObject({ status: 503 });
    expect(warnings).toMatchObject([{ code: "account_store_failed", message: expect.not.stringContaining("secret") }]);
  });
});
