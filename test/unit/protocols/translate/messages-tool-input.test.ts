import { expect, it } from "vitest";
import { toolInputSteps } from "../../../../src/protocols/translate/tool-ids.js";
import { jsonSteps } from "../../../../src/wire/json-steps.js";
import { atOnce } from "../../../../src/wire/slices.js";

const inputOf = (text: string) => atOnce(jsonSteps(atOnce(toolInputSteps(text)))).toString();
const nested = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;

it("arguments that are an object stay as they are written", () => {
  for (const text of ['{"n":12345678901234567890}', ' { "a" : 1.0 } ', nested(200)]) expect(inputOf(text)).toBe(text);
  for (const text of ["", " \n"]) expect(inputOf(text)).toBe("{}");
});

it("what is none, or is nested too deep, is kept as a text", () => {
  for (const text of [
    "[]",
    "null",
    '"x"',
    "{",
    '{"a":1}}',
    "{'a':1}",
    nested(300),
    nested(100_000),
    '{"__proto__":1}',
  ]) {
    expect(JSON.parse(inputOf(text))).toEqual({ _raw: text });
  }
});

it("long arguments are read in slices, and no value is built of them", () => {
  const text = nested(2_000_000);
  const before = process.memoryUsage().heapUsed;
  const steps = toolInputSteps(`{"a":"${"x".repeat(3_000_000)}","b":[${"1,".repeat(2_000_000)}1]}`);
  let slices = 0;
  while (!steps.next().done) slices++;
  expect(slices).toBeGreaterThan(8);
  atOnce(toolInputSteps(text));
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(32 * 2 ** 20);
});
