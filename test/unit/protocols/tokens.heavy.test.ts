import fc from "fast-check";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import * as p50k from "gpt-tokenizer/encoding/p50k_base";
import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../../src/protocols/chat/chat-request.js";
import { leastTokens, tokenizedTokens } from "../../../src/protocols/shared/context-fit.js";
import { fromGptTokenizer } from "../../../src/tokens/from-gpt-tokenizer.js";
import { mostMissed } from "../../../src/tokens/tokenizer.js";
import { atOnce } from "../../../src/wire/slices.js";
import { realTokenizers } from "../../support/real-tokenizers.js";
import { commonTexts, otherTexts } from "../../support/text-samples.js";

const asText = { disallowedSpecial: new Set<string>() };
const tokenizers = { ...realTokenizers, p50k: (text: string) => p50k.countTokens(text, asText) };

function requestOf(content: unknown) {
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content }], padding: "x".repeat(100) });
  return atOnce(parseChatRequest(Buffer.from(body), 256));
}

const samples = { ...commonTexts, ...otherTexts };

describe("the least that a text counts", () => {
  it.each(Object.entries(samples))("is not above what any tokenizer counts for %s", (_name, text) => {
    const least = Math.max(...[0, 0.1, 0.4].map((share) => leastTokens(requestOf(text), share * text.length)));
    for (const [name, count] of Object.entries(tokenizers)) expect(least, name).toBeLessThanOrEqual(count(text));
  });

  it("is most of what tokenizers count for prose", () => {
    const text = commonTexts["English"] ?? "";
    const least = leastTokens(requestOf(text), 0.4 * text.length);
    expect(least).toBeGreaterThanOrEqual(0.4 * o200k.countTokens(text, asText));
  });

  it("is never above what a tokenizer counts, whatever the text", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom(
        " ",
        "  ",
        "\n",
        "\t",
        "\r\n",
        "//\n//",
        "a",
        "b c",
        "'s",
        "I'll",
        "1",
        "000",
        "中文",
        "　",
        "\u00a0",
      ),
      fc.constantFrom(
        "=".repeat(200),
        " ".repeat(200),
        "a".repeat(300),
        '"',
        "\\",
        "\\n",
        "—",
        "🙂",
        "é",
        "<|endoftext|>",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.boolean(), (pieces, inParts) => {
        const text = pieces.join("");
        const content = inParts ? [{ type: "text", text }] : text;
        const request = requestOf(content);
        // Asked with no tokens to spare, the count is not cut short by the first, quick answer.
        const least = Math.max(...[0, 5, 20].map((enough) => leastTokens(request, enough)));
        for (const [name, count] of Object.entries(tokenizers)) {
          expect(least, name).toBeLessThanOrEqual(count(text.toWellFormed()));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("counts the words of all messages and parts, and stops when there are enough", () => {
    const words = requestOf([
      { type: "text", text: "one two three" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${"A ".repeat(500)}` } },
      { type: "text", text: "four\\nfive\n\tsix — seven" },
    ]);
    expect(leastTokens(words, 100)).toBe(6);
    expect(leastTokens(words, 2)).toBe(3);
  });
});

describe("fromGptTokenizer", () => {
  const tokenizer = fromGptTokenizer(o200k);

  it.each(Object.entries(samples))(
    "counts %s as the tokenizer itself but for what it may miss, and never more",
    (_name, text) => {
      const real = o200k.countTokens(text, asText);
      const counted = tokenizer.count(text, Number.POSITIVE_INFINITY);
      expect(counted).toBeLessThanOrEqual(real);
      expect(counted + mostMissed(text)).toBeGreaterThanOrEqual(real);
    },
  );

  it("takes markup for text, and texts of one long run, surrogates included", () => {
    expect(tokenizer.count("<|endoftext|>", 100)).toBeGreaterThan(1);
    const run = "🙂".repeat(3000);
    expect(tokenizer.count(`a${run}`, 1e9)).toBeLessThanOrEqual(o200k.countTokens(`a${run}`, asText));
  });

  it("stops soon after there are enough", () => {
    const text = "word ".repeat(100_000);
    const counted = tokenizer.count(text, 500);
    expect(counted).toBeGreaterThan(500);
    expect(counted).toBeLessThan(1000);
    expect(tokenizedTokens(requestOf(text), 500, tokenizer)).toBe(counted);
  });

  it("says what to pass", () => {
    expect(() => fromGptTokenizer({} as never)).toThrow(/gpt-tokenizer\/encoding/);
  });
});
