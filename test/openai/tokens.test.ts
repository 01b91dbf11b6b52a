import { readFileSync } from "node:fs";
import fc from "fast-check";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import * as p50k from "gpt-tokenizer/encoding/p50k_base";
import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../src/openai/chat-request.js";
import { fromGptTokenizer } from "../../src/openai/from-gpt-tokenizer.js";
import { countedTokens, leastTokens } from "../../src/openai/least-tokens.js";
import { textTokens } from "../../src/openai/text-tokens.js";
import { estimatePromptTokens } from "../../src/openai/token-estimate.js";

const asText = { disallowedSpecial: new Set<string>() };
const tokenizers = { o200k, cl100k, p50k };
const tokenize = (text: string) => Object.values(tokenizers).map((module) => module.countTokens(text, asText));

function requestOf(content: unknown) {
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content }], padding: "x".repeat(100) });
  return parseChatRequest(Buffer.from(body), 256);
}

const file = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** Bytes that are the same in every run. */
function noise(length: number): Buffer {
  let seed = 1;
  const next = () => {
    seed = (seed * 48271) % 2147483647;
    return (seed >> 8) & 0xff;
  };
  return Buffer.from(Uint8Array.from({ length }, next));
}

const numbers = Array.from(noise(1500));
const hex = noise(1500).toString("hex");
const uuid = (text: string) => text.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

/** What people send, and how far the cheap bounds may be off for it. */
const corpora: Record<string, { text: string; leastShare: number; mostShare: [number, number] }> = {
  English: { text: file("CHANGELOG.md"), leastShare: 0.6, mostShare: [1, 2] },
  Chinese: {
    text: "人工智能是计算机科学的一个分支，它试图了解智能的实质，并生产出一种新的能以人类智能相似的方式做出反应的智能机器。".repeat(
      20,
    ),
    leastShare: 0,
    mostShare: [1, 2],
  },
  code: { text: file("src/openai/json-syntax.ts"), leastShare: 0.3, mostShare: [1, 2] },
  JSON: { text: file("package.json"), leastShare: 0.1, mostShare: [1, 2] },
  "JSON without spaces": {
    text: JSON.stringify(numbers.map((id) => ({ id, ok: true }))),
    leastShare: 0,
    mostShare: [1, 2],
  },
  base64: { text: noise(6000).toString("base64"), leastShare: 0, mostShare: [1, 1.5] },
  hex: { text: hex, leastShare: 0, mostShare: [1, 1.5] },
  UUIDs: { text: (hex.match(/.{32}/g) ?? []).map(uuid).join("\n"), leastShare: 0, mostShare: [1, 1.5] },
  digits: { text: numbers.join(""), leastShare: 0, mostShare: [1, 1.5] },
  CSV: { text: numbers.join(","), leastShare: 0, mostShare: [1, 1.5] },
  "a log": {
    text: numbers.map((ms, at) => `2026-03-01T10:20:${at % 60}.${ms}Z INFO GET /v1/models 200 ${ms}ms`).join("\n"),
    leastShare: 0.2,
    mostShare: [1, 1.5],
  },
  Arabic: {
    text: "الذكاء الاصطناعي هو سلوك وخصائص معينة تتسم بها البرامج الحاسوبية ".repeat(10),
    leastShare: 0,
    mostShare: [1, 3],
  },
  emoji: { text: "🙂🚀🎉👩‍👩‍👧‍👦🇩🇪🤖✨".repeat(20), leastShare: 0, mostShare: [1, 2] },
  "prose with base64 in it": {
    text: Array.from(
      { length: 10 },
      (_, at) => `Here is one more of them. ${noise(60 + at).toString("base64")} Look!`,
    ).join(" "),
    leastShare: 0,
    mostShare: [1, 2],
  },
};

describe("the bounds of what a text counts", () => {
  it.each(Object.entries(corpora))("hold for %s", (_name, { text, leastShare, mostShare: [low, high] }) => {
    const least = leastTokens(requestOf(text), 0.5 * text.length - 1);
    const most = textTokens(Buffer.from(text));
    // The newest vocabulary, which sets the share, and older ones, for which the bounds must hold as well.
    const [newest = 0, older = 0, oldest = 0] = tokenize(text);
    for (const real of [newest, older, oldest]) expect(least).toBeLessThanOrEqual(real);
    expect(most).toBeGreaterThanOrEqual(older);
    expect(least).toBeGreaterThanOrEqual(leastShare * newest);
    expect(most).toBeGreaterThanOrEqual(low * newest);
    expect(most).toBeLessThanOrEqual(high * newest);
  });

  it.each(Object.entries(corpora))("hold for many times %s, of which only a part is read", (_name, { text }) => {
    const [once = 0] = tokenize(text);
    expect(textTokens(Buffer.from(text.repeat(30)))).toBeGreaterThanOrEqual(30 * once * 0.98);
  });

  it("are those of prose where nothing but prose is", () => {
    for (const length of [0, 1, 2, 64, 511, 512, 5000, 100_000]) {
      expect(textTokens(Buffer.alloc(length, "word and "))).toBe(Math.ceil(length / 3));
    }
  });

  it("count images by the piece, and the text around them as text", () => {
    const base64 = noise(6000).toString("base64");
    const image = JSON.stringify([{ type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } }]);
    const text = JSON.stringify([{ type: "text", text: base64 }]);
    const asPrompt = (json: string) => estimatePromptTokens(Buffer.from(json), true);
    expect(asPrompt(image)).toBeLessThan(1600);
    expect(asPrompt(text)).toBeGreaterThan(o200k.countTokens(base64));
    expect(asPrompt(text + image)).toBeGreaterThan(1500 + o200k.countTokens(base64));
  });

  it("never count more than a tokenizer does, whatever the text", () => {
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
        for (const real of tokenize(text)) expect(least).toBeLessThanOrEqual(real);
      }),
      { numRuns: 300 },
    );
  });

  it("count the words of all messages and parts, and stop when there are enough", () => {
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

  it.each(Object.entries(corpora))("counts %s nearly as the tokenizer itself, and never more", (_name, { text }) => {
    const real = o200k.countTokens(text, asText);
    const counted = tokenizer.count(text, Number.POSITIVE_INFINITY);
    expect(counted).toBeLessThanOrEqual(real);
    expect(counted).toBeGreaterThanOrEqual(0.98 * real);
  });

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
    expect(countedTokens(requestOf(text), 500, tokenizer)).toBe(counted);
  });

  it("says what to pass", () => {
    expect(() => fromGptTokenizer({} as never)).toThrow(/gpt-tokenizer\/encoding/);
  });
});
