import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { writeReasoning } from "../../../../src/protocols/responses/own-items.js";
import { responsesPromptTokens } from "../../../../src/protocols/responses/responses-prompt-tokens.js";
import { parseResponsesRequest } from "../../../../src/protocols/responses/responses-request.js";
import { resolveTokenBounds } from "../../../../src/tokens/tokenizer.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { thoughtsOf } from "../../../support/own-seal.js";
import { mostRealTokens } from "../../../support/real-tokenizers.js";
import { noise } from "../../../support/text-samples.js";
import { toChatRequest } from "../../../support/translate/whole-translations.js";

const contextLength = 1_000_000;
const bounds = { image: 1000, audioPerSecond: 10, file: 7000 };

const requestOf = (members: object) =>
  atOnce(parseResponsesRequest(Buffer.from(JSON.stringify({ model: "m", input: "hi", ...members })), 256));

function tokensOf(members: object): number {
  const limits = { contextLength, tokenizer: undefined, tokenBounds: resolveTokenBounds(bounds) };
  return responsesPromptTokens(requestOf(members), limits).tokens;
}

const base64 = noise(30_000).toString("base64");
const pixels = `data:image/png;base64,${base64}`;
const user = (...content: unknown[]) => ({ role: "user", content });
const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
const output = (value: unknown) => ({ type: "function_call_output", call_id: "c", output: value });
/** What the JSON around media counts at the most. */
const around = 200;

/** The most tokens of the prompt as a template makes it of a chat, with tools a line for each value. */
function renderedTokens(members: object): { tokens: number; tokenizer: string } {
  const { messages, tools } = toChatRequest(requestOf(members), { thoughts: thoughtsOf("s") }).body as {
    messages: Record<string, unknown>[];
    tools?: object[];
  };
  const texts = messages.map(({ role, content, tool_calls: calls, reasoning_content: thought }) => {
    const made = Array.isArray(calls) ? calls.map((each) => `${each.function.name}\n${each.function.arguments}`) : [];
    return `${String(role)}\n${[thought, content, ...made].filter((text) => typeof text === "string").join("\n")}\n`;
  });
  const listed = tools === undefined ? "" : JSON.stringify(tools, null, 2);
  const { tokens, tokenizer } = mostRealTokens(`${listed}${texts.join("")}assistant\n`);
  // Marks before and behind each message are a token each.
  return { tokens: tokens + 2 * messages.length + 1, tokenizer };
}

describe("the most tokens of a prompt", () => {
  it.each<[string, object[], number]>([
    [
      "in a message",
      [user({ type: "input_text", text: "x" }, { type: "input_image", image_url: pixels, detail: "high" })],
      1000,
    ],
    ["in what a tool gave", [call, output([{ type: "input_image", image_url: pixels }])], 1000],
    [
      "in a screenshot",
      [{ type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot", image_url: pixels } }],
      1000,
    ],
    ["that a server made", [{ type: "image_generation_call", id: "ig_1", result: base64 }], 1000],
    [
      "in several places",
      [user({ type: "input_image", image_url: pixels }), call, output([{ type: "input_image", image_url: pixels }])],
      2000,
    ],
    [
      "as a file",
      [user({ type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${base64}` })],
      7000,
    ],
  ])("has an image %s at its bound, and not as text", (_name, input, least) => {
    const tokens = tokensOf({ input });
    expect(tokens).toBeGreaterThanOrEqual(least);
    expect(tokens).toBeLessThan(least + around);
  });

  it("has what looks like an image as text where nobody looks for one", () => {
    expect(tokensOf({ input: [{ ...call, arguments: JSON.stringify({ image_url: pixels }) }] })).toBeGreaterThan(
      10_000,
    );
    expect(tokensOf({ input: pixels })).toBeGreaterThan(10_000);
  });

  it("has nothing of what says how to answer, or about whom", () => {
    const bare = tokensOf({});
    const beside = { metadata: { a: base64 }, user: base64, prompt_cache_key: base64, client_metadata: { b: base64 } };
    expect(tokensOf(beside)).toBe(bare);
    expect(tokensOf({ instructions: "x ".repeat(1000) })).toBeGreaterThan(1000);
    expect(bare).toBeLessThan(40);
  });

  it("has thoughts of the gateway's own by what they say, and not by how they are written", () => {
    const text = "私は考えます。".repeat(300);
    const item = (source: string) => ({
      type: "reasoning",
      id: "rs_ig_1_0",
      summary: [],
      encrypted_content: writeReasoning(thoughtsOf(source), { reasoning_content: text }),
    });
    const tokens = tokensOf({ input: [user({ type: "input_text", text: "x" }), item("s"), call, output("x")] });
    expect(tokens).toBeGreaterThanOrEqual(mostRealTokens(text).tokens);
    expect(tokens).toBeLessThan(text.length * 3);
  });

  it("is beyond the context where the input is", () => {
    const limits = { contextLength: 500, tokenizer: undefined, tokenBounds: resolveTokenBounds(bounds) };
    expect(responsesPromptTokens(requestOf({ input: "x ".repeat(5000) }), limits).tokens).toBeGreaterThanOrEqual(5000);
  });

  const many = (count: number, make: (index: number) => object) =>
    Array.from({ length: count }, (_none, index) => make(index));
  const image = { type: "input_image", image_url: "https://a.test/1.png" };
  it.each<[string, object]>([
    ["tools that take a text", { tools: many(60, (index) => ({ type: "custom", name: `t${index}` })) }],
    [
      "names of namespaces",
      {
        tools: [
          {
            type: "namespace",
            name: "mañana".repeat(8),
            tools: many(200, (index) => ({ type: "function", name: `t${index}`, parameters: {} })),
          },
        ],
      },
    ],
    ["calls without outputs", { input: many(100, (index) => ({ ...call, call_id: `c${index}` })) }],
    ["short calls", { input: many(100, () => ({ type: "function_call", call_id: "", name: "f" })) }],
    ["short calls of built-in tools", { input: many(100, () => ({ type: "shell_call" })) }],
    [
      "thoughts as a text",
      {
        input: many(100, () => ({
          type: "reasoning",
          id: "rs_ig_1_0_cs",
          summary: [{ type: "summary_text", text: "Hm" }],
        })).flatMap((thought, index) => [thought, { ...call, call_id: `c${index}` }]),
      },
    ],
    ["outputs without calls", { input: many(100, () => ({ type: "function_call_output", call_id: "" })) }],
    ["one image of each tool", { input: many(100, () => output([image])).flatMap((each) => [call, each]) }],
    ["images of tools", { input: [call, output(many(200, () => image))] }],
  ])("covers what a chat says for %s", (_name, members) => {
    expect(tokensOf(members)).toBeGreaterThanOrEqual(renderedTokens(members).tokens);
  });

  it("covers what a chat is made of it, whatever it is", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.constant(""),
      fc.constant("中文 — ok"),
      fc.constant("line\n\n\tline"),
    );
    const id = fc.constantFrom("call_1", "call_2", "call_3");
    const name = fc.constantFrom("get_weather", "spawn_agent", "x");
    const space = fc.constantFrom(undefined, "multi_agent_v1", "n".repeat(40));
    const item = fc.oneof(
      fc.record({ role: fc.constantFrom("user", "assistant", "system", "developer"), content: text }),
      fc.record({
        role: fc.constant("user"),
        content: fc.array(
          text.map((each) => ({ type: "input_text", text: each })),
          { maxLength: 3 },
        ),
      }),
      fc.record({
        type: fc.constant("function_call"),
        call_id: id,
        name,
        namespace: space,
        arguments: fc.json({ maxDepth: 1 }),
      }),
      fc.record({ type: fc.constant("custom_tool_call"), call_id: id, name, input: text }),
      fc.record({
        type: fc.constantFrom("function_call_output", "custom_tool_call_output"),
        call_id: id,
        output: text,
      }),
      text.map((each) => ({ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: each }] })),
    );
    const plain = fc.record({
      type: fc.constant("function"),
      name,
      description: text,
      parameters: fc.constant({ type: "object", properties: { a: { type: "string" } } }),
    });
    const tool = fc.oneof(
      plain,
      fc.record({ type: fc.constant("custom"), name, description: text }),
      fc
        .array(plain, { maxLength: 3 })
        .map((tools) => ({ type: "namespace", name: "multi_agent_v1", description: "", tools })),
      fc.constant({ type: "tool_search", execution: "client" }),
    );
    const members = fc.record({
      instructions: fc.option(text, { nil: undefined }),
      input: fc.oneof(
        text,
        fc
          .array(item, { minLength: 1, maxLength: 8 })
          .map((items) => [user({ type: "input_text", text: "q" }), ...items]),
      ),
      tools: fc.option(fc.array(tool, { maxLength: 4 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(members, (sent) => {
        const { tokens, tokenizer } = renderedTokens(sent);
        expect(tokensOf(sent), `${tokenizer} of ${JSON.stringify(sent)}`).toBeGreaterThanOrEqual(tokens);
      }),
      { numRuns: 300 },
    );
  });
});

it("a form that an update asks for counts as one that the request asks for", () => {
  const text = {
    format: { type: "json_schema", name: "fact", schema: { type: "object", description: "word ".repeat(500) } },
  };
  const plain = tokensOf({ input: [{ role: "user", content: "hi" }] });
  const asked = tokensOf({ input: [{ role: "user", content: "hi" }], text });
  const updated = tokensOf({
    input: [
      { type: "configuration_update", text },
      { role: "user", content: "hi" },
    ],
  });
  expect(asked).toBeGreaterThan(plain + 500);
  expect(updated).toBeGreaterThanOrEqual(asked);
});
