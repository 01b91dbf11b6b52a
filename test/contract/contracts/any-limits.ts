import fc from "fast-check";
import { expect } from "vitest";
import type { ModelRates, Rates } from "../../../src/prices/rates.js";
import type { WritableAccountStore } from "../../../src/records/accounts/account-store.js";
import type { KeyCredits } from "../../../src/records/keys/key-store.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";

const count = fc.integer({ min: 0, max: 1e9 });
const burst = fc.integer({ min: 1, max: 1e9 });
const some = { requiredKeys: [] as [] };
const modelRates: fc.Arbitrary<ModelRates> = fc.record(
  {
    requestsPerMinute: fc.oneof(
      count,
      fc.record({ limit: count }),
      fc.record({ limit: count, burst }, { requiredKeys: ["limit"] }),
    ),
    tokensPerMinute: fc.oneof(
      count,
      fc.record(
        { limit: count, burst, count: fc.constantFrom("total", "input", "output"), cached: fc.boolean() },
        { requiredKeys: ["limit"] },
      ),
    ),
    concurrent: count,
  },
  some,
);
/** The name of a pattern in rates: any that is an id. */
export const pattern = fc.oneof(
  fc
    .string({ unit: "binary", minLength: 1, maxLength: 128 })
    .filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text)),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "0",
    "length",
    "acme/*",
    "'",
    '"',
    "\\",
    "\u2028",
  ),
);
const models = fc.array(fc.tuple(pattern, modelRates), { maxLength: 6 }).map((each) => Object.fromEntries(each));
/** Rates as a person may write them. */
export const rates: fc.Arbitrary<Rates> = fc
  .tuple(modelRates, fc.option(models))
  .map(([limits, byPattern]) => (byPattern ? { ...limits, models: byPattern } : limits));
const cap = fc.double({ min: 0, max: 9_007_199_254, noNaN: true, noDefaultInfinity: true }).map((amount) => amount + 0);
export const credits: fc.Arbitrary<KeyCredits> = fc.record({ day: cap, week: cap, month: cap, total: cap }, some);

/** Text in which the order of members does not matter, and `__proto__` is one like any other. */
export function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "undefined";
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}

/** Any rates of an account come back as they were put or changed. */
export async function expectAccountRoundTrips(store: WritableAccountStore, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(rates, rates, async (first, second) => {
      const id = unique("account");
      await store.put({ id, plan: "p", rates: first });
      expect(canonical((await store.find(id))?.rates)).toBe(canonical(first));
      const changed = await store.update(id, { rates: second });
      for (const found of [changed, await store.find(id)]) expect(canonical(found?.rates)).toBe(canonical(second));
      await store.forget(id);
    }),
    { numRuns },
  );
}
