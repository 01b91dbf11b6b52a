import { describe, expect, it } from "vitest";
import { chatCompletions } from "../../../../src/protocols/chat/chat-completions.js";
import { messages } from "../../../../src/protocols/messages/messages.js";
import { responses } from "../../../../src/protocols/responses/responses.js";
import type { Operation } from "../../../../src/protocols/shared/operation.js";
import { resolveTokenBounds } from "../../../../src/tokens/tokenizer.js";
import { plainModel } from "../../../support/operations/responses/exchange-of.js";
import { ownSeal } from "../../../support/own-seal.js";

const bound = 48_000;
const model = { ...plainModel, tokenBounds: resolveTokenBounds({ image: bound, file: bound, audioPerSecond: bound }) };

async function held(operation: Operation, members: object): Promise<number> {
  const body = Buffer.from(JSON.stringify({ model: "acme/small", ...members }));
  const services = { maxBodyDepth: 256, maxBodyBytes: 1e7, responses: undefined, seal: ownSeal };
  const request = await operation.parse(body, services, { account: "a", header: () => undefined });
  return request.demand(model, 100).heldPromptTokens;
}

const url = "https://example.test/a.png";
const image = { type: "image", source: { type: "url", url } };
const document = { type: "document", source: { type: "url", url: "https://example.test/a.pdf" } };
const inputImage = { type: "input_image", image_url: url };
const user = (...content: unknown[]) => ({ role: "user", content });
const item = (own: object) => ({ input: [{ role: "user", content: "Hi" }, own] });
const block = (own: object) => ({ messages: [user({ type: "text", text: "Hi" }, own)] });
const nested = (value: unknown, depth: number): unknown => (depth === 0 ? value : { a: [nested(value, depth - 1)] });

const media: [string, Operation, object][] = [
  ["the output of a program", responses, item({ type: "program_output", call_id: "c", result: [inputImage] })],
  [
    "the outputs of an interpreter",
    responses,
    item({ type: "code_interpreter_call", id: "c", outputs: [{ type: "image", url }] }),
  ],
  ["the result of a search", responses, item({ type: "file_search_call", id: "c", results: [{ x: inputImage }] })],
  ["an item that nobody knows", responses, item({ type: "invented", own: nested(inputImage, 40) })],
  [
    "a document that was fetched",
    messages,
    block({
      type: "web_fetch_tool_result",
      tool_use_id: "t",
      content: { type: "web_fetch_result", content: document },
    }),
  ],
  ["an image in the system prompt", messages, { system: [{ type: "text", text: "a" }, image], ...block(image) }],
  ["a result of a tool", messages, block({ type: "tool_result", tool_use_id: "t", content: [image] })],
  [
    "a result within results",
    messages,
    block({
      type: "tool_result",
      tool_use_id: "t",
      content: [{ type: "x", content: [{ type: "y", content: [{ type: "z", content: [image] }] }] }],
    }),
  ],
  ["a block that nobody knows", messages, block({ type: "invented", own: nested(image, 20) })],
  [
    "a member of a message",
    chatCompletions,
    {
      messages: [{ ...user({ type: "text", text: "Hi" }), own: nested({ type: "image_url", image_url: { url } }, 3) }],
    },
  ],
  [
    "a member of a part",
    chatCompletions,
    { messages: [user({ type: "text", text: "Hi", own: { type: "file", file: { file_id: "f" } } })] },
  ],
];

describe("media anywhere in a prompt", () => {
  it.each(media)("count at their bound: %s", async (_name, operation, members) => {
    expect(await held(operation, members)).toBeGreaterThanOrEqual(bound);
  });

  it("count once each", async () => {
    const result = item({ type: "program_output", call_id: "c", result: [inputImage, inputImage] });
    expect(await held(responses, result)).toBeGreaterThanOrEqual(2 * bound);
    expect(await held(responses, result)).toBeLessThan(3 * bound);
    const message = block({ type: "tool_result", tool_use_id: "t", content: [image] });
    expect(await held(messages, message)).toBeLessThan(2 * bound);
  });

  it("count as text, too, where a translation writes them as one", async () => {
    const data = `data:image/png;base64,${"QUJD".repeat(50_000)}`;
    const tokens = await held(
      responses,
      item({ type: "program_output", call_id: "c", result: [{ ...inputImage, image_url: data }] }),
    );
    expect(tokens).toBeGreaterThan(bound + 50_000);
  });
});

const text: [string, Operation, object][] = [
  [
    "arguments of a tool",
    messages,
    block({ type: "tool_use", id: "t", name: "f", input: { one: image, type: "image", url } }),
  ],
  [
    "a citation",
    responses,
    item({
      type: "message",
      role: "assistant",
      content: [
        {
          type: "output_text",
          text: "a",
          annotations: [{ type: "file_citation", file_id: "f", index: 1, filename: "a.txt" }],
        },
      ],
    }),
  ],
  [
    "a page that was fetched as text",
    messages,
    block({
      type: "web_fetch_tool_result",
      tool_use_id: "t",
      content: {
        type: "web_fetch_result",
        url,
        content: { type: "document", source: { type: "text", media_type: "text/plain", data: "Hi" } },
      },
    }),
  ],
  [
    "results of a search",
    messages,
    block({
      type: "web_search_tool_result",
      tool_use_id: "t",
      content: [{ type: "web_search_result", url, title: "a", encrypted_content: "x" }],
    }),
  ],
  [
    "what a client ran",
    responses,
    item({ type: "shell_call", call_id: "a", action: { commands: ["a"], image: { type: "image", url } } }),
  ],
  [
    "tools that were found",
    responses,
    item({
      type: "tool_search_output",
      call_id: "a",
      tools: [
        { type: "function", name: "f", parameters: { type: "object", properties: { a: { type: "image", url } } } },
      ],
    }),
  ],
];

describe("what only looks like media", () => {
  it.each(text)("counts as text: %s", async (_name, operation, members) => {
    expect(await held(operation, members)).toBeLessThan(5000);
  });
});
