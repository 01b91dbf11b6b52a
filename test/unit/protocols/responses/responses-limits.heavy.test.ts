import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/errors/gateway-error.js";
import {
  missingMembers,
  refuseMissingInResponse,
  responseAsksToReason,
} from "../../../../src/protocols/responses/responses-capabilities.js";
import { isInputTooLong } from "../../../../src/protocols/responses/responses-prompt-tokens.js";
import { parseResponsesRequest } from "../../../../src/protocols/responses/responses-request.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { realTokenizers } from "../../../support/real-tokenizers.js";

const requestOf = (members: object) =>
  atOnce(parseResponsesRequest(Buffer.from(JSON.stringify({ model: "m", input: "hi", ...members })), 256));

describe("what a model cannot do", () => {
  const missing = { action: "refuse", tools: true, reasoning: true, vision: true } as const;
  const image = { type: "input_image", image_url: "https://a.test/1.png" };
  const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
  const paramOf = (members: object, less: object = {}) => {
    try {
      refuseMissingInResponse(requestOf(members), "m", { ...missing, ...less });
      return undefined;
    } catch (error) {
      if (error instanceof GatewayError) return `${error.code} ${error.param}`;
      throw error;
    }
  };

  it.each<[object, string | undefined]>([
    [{ tools: [{ type: "web_search" }, { type: "function", name: "f" }] }, "tools[1]"],
    [{ tools: [{ type: "web_search" }] }, undefined],
    [{ reasoning: { effort: "low" } }, "reasoning.effort"],
    [{ reasoning: { effort: "none", summary: "auto" } }, undefined],
    [{ reasoning: { summary: "auto" } }, undefined],
    [{ input: [{ role: "user", content: [{ type: "input_text", text: "a" }, image] }] }, "input[0].content[1]"],
    [{ input: [call, { type: "function_call_output", call_id: "c", output: [image] }] }, "input[1].output[0]"],
    [{ input: [call] }, undefined],
  ])("is refused where it is asked for: %j", (members, param) => {
    expect(paramOf(members)).toBe(param === undefined ? undefined : `unsupported_parameter ${param}`);
    expect(paramOf(members, { tools: false, reasoning: false, vision: false })).toBeUndefined();
    expect(paramOf(members, { action: "drop" })).toBeUndefined();
  });

  it("is not sent", () => {
    expect(missingMembers({ tools: true, reasoning: true })).toContain("reasoning");
    expect(missingMembers({ tools: false, reasoning: false })).toEqual([]);
    expect(responseAsksToReason(requestOf({ reasoning: { effort: "high" } }))).toBe(true);
  });
});

describe("an input that is too long", () => {
  const words = "word ".repeat(3000);
  it.each<[string, object]>([
    ["a text", { input: words }],
    ["instructions", { instructions: words }],
    ["a message", { input: [{ role: "user", content: words }] }],
    ["parts", { input: [{ role: "user", content: [{ type: "input_text", text: words }] }] }],
    ["an output", { input: [{ type: "function_call_output", call_id: "c", output: words }] }],
  ])("is known in %s", (_name, members) => {
    expect(isInputTooLong(requestOf(members), 2500, undefined)).toBe(true);
    expect(isInputTooLong(requestOf(members), 3500, undefined)).toBe(false);
    expect(isInputTooLong(requestOf(members), 2500, { count: () => 3000 })).toBe(true);
    expect(isInputTooLong(requestOf({ ...members, metadata: { a: words } }), 6000, undefined)).toBe(false);
  });

  it("is so by the tokenizer that counts the least", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "the ", " ", "\n", "x=1;", "中文", "'s "), { maxLength: 60 }),
        (pieces) => {
          const text = pieces.join("");
          const least = Math.min(...Object.values(realTokenizers).map((count) => count(text)));
          expect(isInputTooLong(requestOf({ input: text, x: " ".repeat(500) }), least, undefined)).toBe(false);
        },
      ),
      { numRuns: 100 },
    );
  });
});
