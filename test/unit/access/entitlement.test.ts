import { describe, expect, it } from "vitest";
import { toAllowance } from "../../../src/access/allowance.js";
import type { Caller } from "../../../src/access/caller.js";
import type { Catalog, CatalogModel } from "../../../src/access/catalog.js";
import { Entitlements } from "../../../src/access/entitlement.js";
import { ModelPatterns } from "../../../src/access/model-patterns.js";
import { RateRules } from "../../../src/access/rate-rules.js";
import { Calendar } from "../../../src/ledger/calendar.js";

const callerOf = (own: Partial<Caller> = {}): Caller => ({
  ...{ source: "key", keyId: "key_1", filedUnder: "key_1", account: "acct_1", plan: "pro", refusedFrom: Infinity },
  ...{ calendar: new Calendar(undefined), models: undefined },
  ...own,
});
const modelOf = (id: string) => ({ id, type: "chat" }) as CatalogModel;
const catalogOf = (...ids: string[]): Catalog => new Map(ids.map((id) => [id, modelOf(id)]));
const pro = toAllowance("pro", { id: "pro", models: ["acme/*"], rates: { requestsPerMinute: 5 } });

const entitlements = new Entitlements();

describe("Entitlements", () => {
  it("is worked out once for a key and a model", () => {
    const [caller, catalog] = [callerOf(), catalogOf("acme/small", "acme/large")];
    const small = entitlements.of(caller, pro, catalog, "acme/small");
    expect(small).toMatchObject({ allowance: pro, model: { id: "acme/small" }, rules: [{ owner: "plan", limit: 5 }] });
    expect(entitlements.of(caller, pro, catalog, "acme/small")).toBe(small);
    expect(entitlements.of(caller, pro, catalog, "acme/large").model.id).toBe("acme/large");
    expect(entitlements.of(caller, pro, catalog, "acme/small")).toBe(small);
  });

  it("is worked out anew where the key, the plan or the catalog is another one", () => {
    const [caller, catalog] = [callerOf(), catalogOf("acme/small")];
    const first = entitlements.of(caller, pro, catalog, "acme/small");
    const other = toAllowance("pro", { id: "pro", models: ["acme/small"] });
    expect(entitlements.of(caller, other, catalog, "acme/small")).toEqual({ ...first, allowance: other, rules: [] });
    const renewed = catalogOf("acme/small");
    expect(entitlements.of(caller, pro, renewed, "acme/small").model).toBe(renewed.get("acme/small"));
    const limited = callerOf({ rates: RateRules.of({ owner: "key", counters: "key/1" }, { concurrent: 2 }) });
    expect(entitlements.of(limited, pro, catalog, "acme/small").rules).toHaveLength(2);
  });

  it("is refused as before once it was given, where the plan, the key or the catalog has lost the model", () => {
    const [caller, catalog] = [callerOf(), catalogOf("acme/small", "acme/large")];
    entitlements.of(caller, pro, catalog, "acme/small");
    expect(() => entitlements.of(caller, undefined, catalog, "acme/small")).toThrow("does not include");
    expect(() =>
      entitlements.of(caller, toAllowance("pro", { id: "pro", models: ["b/*"] }), catalog, "acme/small"),
    ).toThrow("include");
    expect(() => entitlements.of(caller, pro, catalogOf("acme/large"), "acme/small")).toThrow("does not exist");
    const narrow = callerOf({ models: new ModelPatterns(["acme/large"]) });
    expect(() => entitlements.of(narrow, pro, catalog, "acme/small")).toThrow("does not include");
  });

  it("keeps nothing of callers without a key, who are made anew for each request", () => {
    const [session, catalog] = [callerOf({ source: "session", keyId: undefined }), catalogOf("acme/small")];
    const first = entitlements.of(session, pro, catalog, "acme/small");
    expect(entitlements.of(session, pro, catalog, "acme/small")).toEqual(first);
    expect(entitlements.of(session, pro, catalog, "acme/small")).not.toBe(first);
  });
});
