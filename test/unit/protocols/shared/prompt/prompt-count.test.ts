import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../../../../src/protocols/chat/chat-request.js";
import { messagesPromptTokens } from "../../../../../src/protocols/messages/messages-prompt-tokens.js";
import { parseMessagesRequest } from "../../../../../src/protocols/messages/messages-request.js";
import { responsesPromptTokens } from "../../../../../src/protocols/responses/responses-prompt-tokens.js";
import { parseResponsesRequest } from "../../../../../src/protocols/responses/responses-request.js";
import { type PromptCount, promptTokens } from "../../../../../src/protocols/shared/prompt-tokens.js";
import { textTokens } from "../../../../../src/tokens/text-tokens.js";
import { resolveTokenBounds } from "../../../../../src/tokens/tokenizer.js";
import { atOnce } from "../../../../../src/wire/slices.js";

const limits = { contextLength: 128_000, tokenizer: undefined, tokenBounds: resolveTokenBounds() };
const image = { type: "image_url", image_url: { url: "https://images.test/1.png" } };
const tools = [{ type: "function", function: { name: "f", description: "Finds.", parameters: { type: "object" } } }];

function countOf(body: object, own: object = {}): PromptCount {
  return promptTokens(atOnce(parseChatRequest(Buffer.from(JSON.stringify({ model: "m", ...body })), 256)), {
    ...limits,
    ...own,
  });
}

const user = (content: unknown) => ({ messages: [{ role: "user", content }] });

describe("the bound of a prompt", () => {
  it("is two tokens for each byte of its texts, beside all that is no text", () => {
    const plain = countOf(user("x".repeat(300)));
    const bytes = Buffer.byteLength(JSON.stringify(user("x".repeat(300)).messages));
    expect(plain.bound).toBe(4 + bytes * 2);
    const seen = countOf(user([{ type: "text", text: "x".repeat(300) }, image]));
    expect(seen.bound).toBeGreaterThan(limits.tokenBounds.image + 2 * 300);
    expect(countOf({ ...user("x".repeat(300)), tools }).bound).toBeGreaterThan(4 + bytes * 2 + 350);
  });

  it("is not known of short texts, of a model with its own tokenizer, and where a part has no bound", () => {
    expect(countOf(user("Hi")).bound).toBeUndefined();
    const tokenizer = { count: () => 1 };
    expect(countOf(user("x".repeat(300)), { tokenizer }).bound).toBeUndefined();
    const file = { type: "file", file: { file_id: "file-1" } };
    expect(countOf(user([{ type: "text", text: "x".repeat(300) }, file])).bound).toBeUndefined();
  });

  it("is not below the count, whatever the texts are", () => {
    const dear = fc.constantFrom("ྲྀ", "ﷺ", "ſ", " ", "\n", "a", "7", "é", "漢", "😀", "\u0001", "\\", '"');
    const text = fc.array(fc.oneof(dear, fc.string({ unit: "grapheme", maxLength: 3 })), {
      minLength: 90,
      maxLength: 400,
    });
    fc.assert(
      fc.property(text, fc.boolean(), fc.boolean(), (pieces, hasTools, isRepeated) => {
        const content = pieces.join("").repeat(isRepeated ? 12 : 1);
        const chat = { ...user(content), ...(hasTools && { tools }) };
        const message = { model: "m", max_tokens: 5, system: content, ...user("Hi") };
        const counts = [
          countOf(chat),
          messagesPromptTokens(atOnce(parseMessagesRequest(Buffer.from(JSON.stringify(message)), 64)), limits),
          responsesPromptTokens(
            atOnce(parseResponsesRequest(Buffer.from(JSON.stringify({ model: "m", input: content })), 64)),
            limits,
          ),
        ];
        for (const { bound = Number.POSITIVE_INFINITY, tokens } of counts) expect(bound).toBeGreaterThanOrEqual(tokens);
      }),
      { numRuns: 200 },
    );
  });

  it("holds for every character, alone and behind a space", () => {
    for (let point = 0; point < 0x11_0000; point += point < 0x3000 ? 1 : 7) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const bytes = Buffer.from(` ${String.fromCodePoint(point)}`);
      if (textTokens(bytes, true) > 2 * bytes.length) expect.fail(`U+${point.toString(16)}`);
    }
  });
});
