import { execFile } from "node:child_process";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { bundled } from "../../support/bundled.js";
import { describeBackEnds } from "./back-ends.js";
import { isLinear, type ValueStep } from "./linear-history.js";

const script = fileURLToPath(new URL("fixtures/catalog-writer.ts", import.meta.url));
const processes = 4;

describeBackEnds("models and budgets that four processes change", (backEnd) => {
  it("are as if one process after the other had changed them", async () => {
    const file = await bundled(script);
    const run = async (number: number): Promise<ValueStep[]> => {
      const options = { env: { ...env, ...backEnd().environment }, maxBuffer: 2 ** 24 };
      const { stdout } = await promisify(execFile)(execPath, [file, `${number}`, "200"], options);
      return JSON.parse(stdout);
    };
    const histories = await Promise.all(Array.from({ length: processes }, (_, number) => run(number)));
    for (const value of ["model 1", "model 2", "budget 1", "budget 2"]) {
      const its = histories.map((steps) => steps.filter((step) => step.value === value));
      expect(its.flat().length).toBeGreaterThan(50);
      expect(isLinear(its), `${value}: ${JSON.stringify(its)}`).toBe(true);
    }
  });
});

describe("what is told of a value", () => {
  const step = (from: number, to: number, more: Omit<ValueStep, "value" | "from" | "to">) => ({
    ...{ value: "v", from, to },
    ...more,
  });
  const put = (wrote: string) => step(0, 1, { kind: "put", wrote });
  it.each<[string, boolean, ValueStep[][]]>([
    ["a reading that is late", false, [[put("a")], [step(2, 3, { kind: "read", told: null })]]],
    ["a reading at the same time", true, [[put("a")], [step(0.5, 3, { kind: "read", told: null })]]],
    [
      "two that replace the same",
      false,
      [
        [put("a"), step(2, 5, { kind: "swap", expected: "a", wrote: "b" })],
        [step(2, 5, { kind: "swap", expected: "a", wrote: "c" })],
      ],
    ],
    ["a refusal without a reason", false, [[put("a"), step(2, 3, { kind: "swap", expected: "a", wrote: null })]]],
    [
      "one that is removed twice",
      false,
      [[put("a"), step(2, 4, { kind: "remove", told: true })], [step(2, 4, { kind: "remove", told: true })]],
    ],
  ])("%s is possible: %s", (_, expected, histories) => {
    expect(isLinear(histories)).toBe(expected);
  });
});
