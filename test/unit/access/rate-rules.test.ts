import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { counterName, ownCounters } from "../../../src/access/counter-name.js";
import { RateRules } from "../../../src/access/rate-rules.js";
import { idProblem } from "../../../src/check/id-problem.js";

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.stringMatching(/^[a-z*/]{1,8}$/),
  fc.constantFrom("requests", "a/requests", "a", "b/tokens"),
);

describe("the ids of buckets", () => {
  it("are valid whatever lineage and pattern are, and different where either is", () => {
    const bucket = ([lineage, pattern]: [string, string | undefined]) => {
      const rates = { requestsPerMinute: 1 };
      const scope = { owner: "key", counters: ownCounters("key", lineage) } as const;
      const rules = RateRules.of(scope, pattern === undefined ? rates : { models: { [pattern]: rates } });
      return rules?.for(pattern === undefined ? "x" : pattern.replaceAll("*", ""))[0]?.id ?? "none";
    };
    const place = fc.tuple(
      text,
      fc.option(
        text.filter((one) => one !== "__proto__"),
        { nil: undefined },
      ),
    );
    fc.assert(
      fc.property(place, place, (one, other) => {
        expect(idProblem(bucket(one))).toBeUndefined();
        expect(bucket(one) === bucket(other)).toBe(one[0] === other[0] && one[1] === other[1]);
      }),
    );
  });

  it("hash no text into another one's name", () => {
    expect(counterName(counterName("a".repeat(100)))).not.toBe(counterName("a".repeat(100)));
  });
});

describe("rates", () => {
  const scope = { owner: "plan", counters: "plan" } as const;

  it.each([undefined, null, {}, { requestsPerMinute: null, models: {} }, { models: { "*": {} } }])(
    "%j limit nothing",
    (rates) => {
      expect(RateRules.of(scope, rates)).toBeUndefined();
    },
  );

  it("of 0 have no burst, whatever it was", () => {
    const rules = RateRules.of(scope, { requestsPerMinute: { limit: 0, burst: 5 } });
    expect(rules?.for("x")).toMatchObject([{ id: "plan/requests", limit: 0, burst: 0 }]);
  });
});
