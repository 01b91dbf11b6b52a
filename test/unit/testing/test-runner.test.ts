import { describe, expect, it } from "vitest";
import { testRunnerOf } from "../../../src/testing/test-runner.js";

/** Runs what is defined at once, as a runner that gives tests this. */
function recorder(...contexts: unknown[]) {
  const titles: string[] = [];
  const results: Promise<unknown>[] = [];
  const test = (title: string, body: (...contexts: unknown[]) => Promise<void>) => {
    titles.push(title);
    // Jest and node:test wait for a callback where there is a parameter for it.
    expect(body).toHaveLength(0);
    results.push(body(...contexts));
  };
  return { titles, results, describe: (_: string, body: () => void) => body(), test };
}

describe("a suite's runner", () => {
  it("names the tests of a table by its rows", async () => {
    const seen: unknown[] = [];
    const record = recorder();
    const runner = testRunnerOf({ describe: record.describe, it: record.test });
    runner.describe("suite", () => {
      runner.it.each([1, 2])("takes %i", async (value) => void seen.push(value));
      runner.it.each([["a", { b: 1 }] as const])("takes %s alone", async (...row) => void seen.push(row));
      runner.it.each(["", "%s"])("takes %j", async (value) => void seen.push(value));
    });
    await Promise.all(record.results);
    expect(record.titles).toEqual(["takes 1", "takes 2", "takes a alone", 'takes ""', 'takes "%s"']);
    expect(seen).toEqual([1, 2, ["a", { b: 1 }], "", "%s"]);
  });

  it("skips where the runner can", async () => {
    const reasons: string[] = [];
    for (const contexts of [[], [{}], [{ skip: (reason: string) => reasons.push(reason) }]]) {
      const record = recorder(...contexts);
      testRunnerOf(record).it("test", async ({ skip }) => skip("for a reason"));
      await Promise.all(record.results);
    }
    expect(reasons).toEqual(["for a reason"]);
  });

  it("defines only what it is told to", () => {
    const record = recorder();
    const { it: define } = testRunnerOf(record);
    define.runIf(false)("never", async () => {});
    define.runIf(true)("always", async () => {});
    expect(record.titles).toEqual(["always"]);
  });

  it("passes on what a test throws", async () => {
    const record = recorder();
    testRunnerOf(record).it("test", async () => {
      throw new Error("broken");
    });
    await expect(record.results[0]).rejects.toThrow("broken");
  });

  it("says what is missing", () => {
    expect(() => testRunnerOf({ describe: () => {} })).toThrow("pass { describe, it }");
    const { describe: global, it: globalIt, test } = globalThis as Record<string, unknown>;
    try {
      Object.assign(globalThis, { describe: undefined, it: undefined, test: undefined });
      expect(() => testRunnerOf()).toThrow('{ describe, it } from "vitest"');
    } finally {
      Object.assign(globalThis, { describe: global, it: globalIt, test });
    }
  });
});
