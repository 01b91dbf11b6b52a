import { describe, expect, it } from "vitest";
import { toAllowance } from "../../../src/access/allowance.js";
import type { Caller } from "../../../src/access/caller.js";
import { mayUse } from "../../../src/access/entitlement.js";
import { ModelPatterns } from "../../../src/access/model-patterns.js";
import { Calendar } from "../../../src/ledger/calendar.js";

const allowance = toAllowance("pro", { id: "pro", models: ["acme/*"] });
const caller: Caller = {
  source: "key",
  keyId: "key_1",
  filedUnder: "key_1",
  account: "a",
  plan: "pro",
  refusedFrom: Infinity,
  calendar: new Calendar(undefined),
  models: undefined,
};
const usable = (terms: Partial<Caller>) =>
  ["acme/small", "acme/large", "other"].filter((id) => mayUse({ ...caller, ...terms }, allowance, id));

describe("the models of an account", () => {
  it("narrow those of its plan, and are narrowed by those of a key", () => {
    const accountModels = new ModelPatterns(["*/small", "other"]);
    expect(usable({})).toEqual(["acme/small", "acme/large"]);
    expect(usable({ accountModels })).toEqual(["acme/small"]);
    expect(usable({ accountModels, models: new ModelPatterns(["acme/large"]) })).toEqual([]);
    expect(usable({ accountModels, models: new ModelPatterns(["acme/*"]) })).toEqual(["acme/small"]);
    expect(usable({ accountModels: new ModelPatterns([]) })).toEqual([]);
  });
});
