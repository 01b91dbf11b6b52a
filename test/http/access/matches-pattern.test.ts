import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { matchesPattern } from "../../../src/access/matches-pattern.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { getRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

/** The definition: a star stands for nothing, or for one more character than it stood for. */
function matchesByDefinition(pattern: string, text: string): boolean {
  if (pattern === "") return text === "";
  const rest = pattern.slice(1);
  if (pattern[0] !== "*") return text[0] === pattern[0] && matchesByDefinition(rest, text.slice(1));
  return matchesByDefinition(rest, text) || (text !== "" && matchesByDefinition(pattern, text.slice(1)));
}

/** Few characters, so that much matches in many ways. Those of expressions are none here. */
const texts = (alphabet: string) =>
  fc.array(fc.constantFrom(...alphabet), { maxLength: 9 }).map((characters) => characters.join(""));

/** In seconds of this process's processors, whatever else the machine does. */
function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

describe("matchesPattern", () => {
  it("does what the definition says", () => {
    fc.assert(
      fc.property(texts("ab*."), texts("ab."), (pattern, text) => {
        expect(matchesPattern(pattern, text)).toBe(matchesByDefinition(pattern, text));
      }),
      { numRuns: 20_000 },
    );
  });

  it.each([
    ["a*", "a", true],
    ["a*a", "a", false],
    ["a*a", "aa", true],
    ["*ab*b", "aab", false],
    ["*ab*b", "aabb", true],
    ["a*b*c", "a-b-b-c", true],
    ["***", "", true],
    ["", "", true],
    ["", "a", false],
    ["(a|b)+", "ab", false],
    ["a.c", "abc", false],
    ["a\n*", "a\n\n", true],
    ["*\ude00", "\ud83d\ude00", true],
  ])("%j, asked of %j: %s", (pattern, text, expected) => {
    expect(matchesPattern(pattern, text)).toBe(expected);
  });

  it.each([
    ["stars", (n: number) => `${"*".repeat(n)}x`, (n: number) => "a".repeat(n)],
    ["stars before what is not there", (n: number) => `${"*".repeat(n)}x*`, (n: number) => "a".repeat(n)],
    ["stars between what is there", (n: number) => `${"*a".repeat(n / 2)}*x*`, (n: number) => "a".repeat(n)],
    ["parts that almost fit", (n: number) => `${"*aab".repeat(n / 8)}*x*`, (n: number) => "aab".repeat(n / 3)],
  ])("takes its time in proportion to both: %s", (_, pattern, text) => {
    // A second is a hundred times what it takes; what takes anything back is not done within a lifetime.
    expect(cpuSeconds(() => expect(matchesPattern(pattern(200_000), text(200_000))).toBe(false))).toBeLessThan(1);
  });
});

describe("a gateway", () => {
  let test: TestGateway | undefined;
  afterEach(() => test?.close());

  it("is not held up by the patterns of a plan, nor by those of a key", async () => {
    const hostile = ["**********x", "*a*a*a*a*a*a*a*a*a*a*a*a*x", "acme/*"];
    const id = `acme/${"a".repeat(200)}`;
    test = await startTestGateway({
      models: [{ ...smallModel, id }],
      plans: memoryPlanStore({ all: { models: hostile } }),
      keys: memoryKeyStore([{ key: "sk-pro", account: "a", plan: "all", models: hostile }]),
    });
    const response = await test.gateway.handler(getRequest("/v1/models"));
    expect(await response.json()).toMatchObject({ data: [{ id }] });
  });
});
