import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/errors/gateway-error.js";
import { parseResponsesRequest } from "../../../../src/protocols/responses/responses-request.js";
import { atOnce, stepInTurns } from "../../../../src/wire/slices.js";

const parse = (text: string) => atOnce(parseResponsesRequest(Buffer.from(text), 64));
const parseOf = (members: object) => parse(JSON.stringify({ model: "m", input: "hi", ...members }));

function refusalOf(run: () => unknown): { param: string | null; code: string } {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return { param: error.param, code: error.code };
    throw error;
  }
  throw new Error("It was not refused.");
}

describe("a request for a response", () => {
  it("is read as far as the gateway needs it", () => {
    const request = parseOf({
      stream: true,
      max_output_tokens: 64,
      store: false,
      previous_response_id: "resp_1",
      include: ["reasoning.encrypted_content"],
      client_metadata: { a: 1 },
    });
    expect(request).toMatchObject({
      model: "m",
      stream: true,
      items: undefined,
      maxOutputTokens: 64,
      store: false,
      previousResponseId: "resp_1",
      include: ["reasoning.encrypted_content"],
    });
  });

  it("has OpenAI's defaults, and takes null for absent", () => {
    const bare = { stream: false, store: true, maxOutputTokens: undefined, previousResponseId: undefined, include: [] };
    expect(parseOf({})).toMatchObject(bare);
    const names = [
      "stream",
      "store",
      "max_output_tokens",
      "previous_response_id",
      "include",
      "tools",
      "text",
      "prompt",
    ];
    expect(parseOf(Object.fromEntries(names.map((name) => [name, null])))).toMatchObject(bare);
    expect(parseOf({ background: false, n: 1, conversation: null })).toMatchObject(bare);
  });

  it("knows the kinds of its items", () => {
    const input = [
      { role: "user", content: "q" },
      { type: null, role: "assistant", content: null },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { id: "msg_1" },
      { type: "item_reference", id: "msg_2" },
      { type: "reasoning", id: "rs_1", content: null, encrypted_content: "x" },
    ];
    expect(parseOf({ input }).items?.map(({ type, id }) => [type, id])).toEqual([
      ["message", undefined],
      ["message", undefined],
      ["function_call", undefined],
      ["item_reference", "msg_1"],
      ["item_reference", "msg_2"],
      ["reasoning", "rs_1"],
    ]);
  });

  it("may have no input where it goes on from a previous response", () => {
    expect(parse('{"model":"m","previous_response_id":"resp_1"}').items).toBeUndefined();
    expect(parse('{"model":"m","input":[],"previous_response_id":"resp_1"}').items).toEqual([]);
  });

  it("is read alike in slices", async () => {
    const input = Array.from({ length: 9000 }, (_none, index) => ({
      role: "user",
      content: [{ type: "input_text", text: `${index}` }],
    }));
    const body = Buffer.from(JSON.stringify({ model: "m", input, tools: [{ type: "web_search" }] }));
    expect(body.length).toBeGreaterThan(512 * 1024);
    const { skips, ...request } = await stepInTurns(parseResponsesRequest(body, 64));
    const { skips: others, ...at } = atOnce(parseResponsesRequest(body, 64));
    expect(request).toEqual(at);
    for (let start = 0; start < body.length; start++) expect(skips.get(start)).toBe(others.get(start));
  });
});

describe("a request is refused", () => {
  it.each<[object, string | null, string]>([
    [{ model: undefined }, "model", "missing_required_parameter"],
    [{ input: undefined }, "input", "missing_required_parameter"],
    [{ input: null }, "input", "missing_required_parameter"],
    [{ input: [] }, "input", "empty_array"],
    [{ input: 7 }, "input", "invalid_type"],
    [{ input: ["hi"] }, "input[0]", "invalid_type"],
    [
      {
        input: [
          { role: "user", content: "a" },
          { role: "tool", content: "b" },
        ],
      },
      "input[1].role",
      "invalid_value",
    ],
    [{ input: [{ content: "b" }] }, "input[0].role", "missing_required_parameter"],
    [{ input: [{ role: "user" }] }, "input[0].content", "missing_required_parameter"],
    [{ input: [{ type: 7 }] }, "input[0].type", "invalid_type"],
    [{ input: [{ type: "item_reference" }] }, "input[0].id", "missing_required_parameter"],
    [{ input: [{ type: "function_call_output", output: "x" }] }, "input[0].call_id", "missing_required_parameter"],
    [{ stream: "yes" }, "stream", "invalid_type"],
    [{ store: 1 }, "store", "invalid_type"],
    [{ instructions: [] }, "instructions", "invalid_type"],
    [{ tools: {} }, "tools", "invalid_type"],
    [{ tools: [7] }, "tools[0]", "invalid_type"],
    [{ tools: [{ type: "function", Type: "mcp" }] }, "tools[0].Type", "invalid_value"],
    [{ tools: [{ type: "namespace", tools: [{ type: "namespace" }] }] }, "tools[0].tools[0].type", "invalid_value"],
    [{ text: "json" }, "text", "invalid_type"],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_none, at) => [`k${at}`, "v"])) },
      "metadata",
      "invalid_value",
    ],
    [{ include: [7] }, "include[0]", "invalid_type"],
    [{ max_output_tokens: 0 }, "max_output_tokens", "invalid_value"],
    [{ max_output_tokens: 1.5 }, "max_output_tokens", "invalid_type"],
    [{ previous_response_id: "" }, "previous_response_id", "invalid_value"],
    [{ previous_response_id: 7 }, "previous_response_id", "invalid_type"],
    [{ background: true }, "background", "unsupported_parameter"],
    [{ conversation: "conv_1" }, "conversation", "unsupported_parameter"],
    [{ prompt: { id: "pmpt_1" } }, "prompt", "unsupported_parameter"],
    [{ messages: [] }, "messages", "unsupported_parameter"],
    [{ max_tokens: 5 }, "max_tokens", "unsupported_parameter"],
    [{ max_completion_tokens: 5 }, "max_completion_tokens", "unsupported_parameter"],
    [{ n: 2 }, "n", "unsupported_parameter"],
    [{ Max_Output_Tokens: 5 }, "Max_Output_Tokens", "invalid_value"],
    [{ maxOutputTokens: 5 }, "maxOutputTokens", "invalid_value"],
    [{ Background: true }, "Background", "invalid_value"],
    [{ Store: true }, "Store", "invalid_value"],
    [{ input: [{ role: "user", content: "a", Content: "b" }] }, "input[0].Content", "invalid_value"],
  ])("for %j", (members, param, code) => {
    expect(refusalOf(() => parseOf(members))).toEqual({ param, code });
  });

  it.each([
    ['{"model":"m","input":"a","input":"b"}', "input"],
    ['{"model":"m","input":"a","store":true,"store":false}', "store"],
    ['{"model":"m","input":[{"role":"user","role":"system","content":"x"}]}', "input[0].role"],
    [
      '{"model":"m","input":[{"role":"user","content":[{"type":"input_text","type":"x"}]}]}',
      "input[0].content[0].type",
    ],
    [
      '{"model":"m","input":[{"call_id":"a","type":"function_call_output","output":[{"text":"","Text":""}]}]}',
      "input[0].output[0].Text",
    ],
  ])("where a member is there twice: %s", (text, param) => {
    expect(refusalOf(() => parse(text)).param).toBe(param);
  });

  it("for more than anybody sends", () => {
    const many = (item: string, count: number) => `[${Array(count).fill(item).join(",")}]`;
    const message = '{"role":"user","content":"a"}';
    expect(refusalOf(() => parse(`{"model":"m","input":${many(message, 16_385)}}`)).code).toBe(
      "array_above_max_length",
    );
    const parts = `[{"role":"user","content":${many("{}", 16_385)}}]`;
    expect(refusalOf(() => parse(`{"model":"m","input":${parts}}`)).code).toBe("array_above_max_length");
    const tools = many("{}", 2049);
    expect(refusalOf(() => parse(`{"model":"m","input":"a","tools":${tools}}`)).param).toBe("tools");
    expect(refusalOf(() => parse(`{"model":"m","input":"a","include":${many('"a"', 65)}}`)).param).toBe("include");
    const spaces = many(`{"type":"namespace","tools":${many("{}", 1000)}}`, 3);
    expect(refusalOf(() => parse(`{"model":"m","input":"a","tools":${spaces}}`)).param).toBe("tools[2].tools");
    const long = "x".repeat(300);
    expect(refusalOf(() => parse(`{"model":"m","input":[{"type":"${long}"}]}`)).param).toBe("input[0].type");
  });
});
