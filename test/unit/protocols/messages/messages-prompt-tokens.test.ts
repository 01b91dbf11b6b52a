import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { messagesPromptTokens, tokenCountBody } from "../../../../src/protocols/messages/messages-prompt-tokens.js";
import { parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { leastTokens } from "../../../../src/protocols/shared/context-fit.js";
import { resolveTokenBounds } from "../../../../src/tokens/tokenizer.js";
import { atOnce } from "../../../../src/wire/slices.js";

const limits = {
  contextLength: 200_000,
  tokenizer: undefined,
  tokenBounds: resolveTokenBounds({ image: 1600, file: 30_000 }),
};

function tokens(content: unknown, more: object = {}): number {
  const body = { model: "m", messages: [{ role: "user", content }], ...more };
  return messagesPromptTokens(atOnce(parseMessagesRequest(Buffer.from(JSON.stringify(body)), 64)), limits).tokens;
}

const data = "A".repeat(20_000);
const image = { type: "image", source: { type: "base64", media_type: "image/png", data } };

describe("the tokens of a prompt", () => {
  it("are those of its text, wherever it stands", () => {
    const word = "word ".repeat(200);
    const bare = tokens("hi");
    expect(bare).toBeLessThan(40);
    expect(tokens(`hi ${word}`)).toBeGreaterThan(bare + 199);
    expect(tokens("hi", { system: [{ type: "text", text: word }] })).toBeGreaterThan(bare + 199);
    expect(tokens("hi", { tools: [{ name: "f", description: word, input_schema: {} }] })).toBeGreaterThan(bare + 199);
    expect(tokens([{ type: "tool_result", tool_use_id: "t", content: word }])).toBeGreaterThan(bare + 199);
  });

  it("are the bounds of images and documents, not their bytes", () => {
    expect(tokens([image])).toBeGreaterThanOrEqual(1600);
    expect(tokens([image])).toBeLessThan(1700);
    expect(tokens([{ type: "tool_result", tool_use_id: "t", content: [image, image] }])).toBeGreaterThanOrEqual(3200);
    const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data } };
    expect(tokens([pdf])).toBeGreaterThanOrEqual(30_000);
    expect(tokens([pdf])).toBeLessThan(30_100);
    expect(tokens([{ type: "document", source: { type: "file", file_id: "file_1" } }])).toBeGreaterThanOrEqual(30_000);
  });

  it("are those of the text of documents that are text", () => {
    const text = { type: "text", media_type: "text/plain", data: "word ".repeat(200) };
    const counted = tokens([{ type: "document", source: text, title: "t" }]);
    expect(counted).toBeGreaterThan(199);
    expect(counted).toBeLessThan(400);
    const parts = { type: "content", content: [{ type: "text", text: "word" }, image] };
    expect(tokens([{ type: "document", source: parts }])).toBeGreaterThanOrEqual(1600);
    expect(tokens([{ type: "document", source: parts }])).toBeLessThan(1700);
    expect(tokens([{ type: "document", source: text, file_id: "f" }])).toBeGreaterThan(30_000);
    expect(tokens([{ type: "document", source: { ...text, Type: "base64" } }])).toBeGreaterThan(30_000);
    // What servers could read in another way counts as what it may be.
    expect(tokens([{ type: "document", source: { ...text, file_id: "f", Type: "file" } }])).toBeGreaterThan(30_000);
  });

  it("are at least its words", () => {
    const body = { model: "m", messages: [{ role: "user", content: [{ type: "text", text: "word ".repeat(900) }] }] };
    const request = atOnce(parseMessagesRequest(Buffer.from(JSON.stringify(body)), 64));
    expect(leastTokens(request, 800)).toBeGreaterThan(800);
    expect(leastTokens(request, 1000)).toBe(900);
  });

  it("are told in whole numbers, of which there is always one", () => {
    expect(tokenCountBody(2.5)).toBe('{"input_tokens":3}');
    expect(tokenCountBody(0)).toBe('{"input_tokens":1}');
  });
});
