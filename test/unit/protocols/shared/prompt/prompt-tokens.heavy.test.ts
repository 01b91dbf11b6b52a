import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseChatRequest } from "../../../../../src/protocols/chat/chat-request.js";
import { promptTokens } from "../../../../../src/protocols/shared/prompt-tokens.js";
import { textTokens } from "../../../../../src/tokens/text-tokens.js";
import { resolveTokenBounds, type TokenBounds } from "../../../../../src/tokens/tokenizer.js";
import { atOnce } from "../../../../../src/wire/slices.js";
import { mostRealTokens } from "../../../../support/real-tokenizers.js";
import { noise } from "../../../../support/text-samples.js";
import { plainWav } from "../../../../support/wav-head.js";

const contextLength = 1_000_000;

function tokensOfBody(body: string, tokenBounds: TokenBounds = {}, tokenizer = undefined as never): number {
  const request = atOnce(parseChatRequest(Buffer.from(body), 256));
  return promptTokens(request, { contextLength, tokenizer, tokenBounds: resolveTokenBounds(tokenBounds) }).tokens;
}

const tokensOf = (messages: unknown, bounds?: TokenBounds, others = {}) =>
  tokensOfBody(JSON.stringify({ model: "m", messages, ...others }), bounds);
const user = (...content: unknown[]) => [{ role: "user", content }];

const url = "https://images.test/1.png";
const base64 = noise(3000).toString("base64");
const bounds = { image: 1000, audioPerSecond: 10, file: 7000 };
/** What the JSON of a message with one part counts. */
const around = 60;

/** @param written - as it stands in JSON. */
const asImage = (written: string) => ({ type: "image_url", image_url: { url: JSON.parse(`"${written}"`) } });

/** 16 kHz, 16 bits, one channel. */
const wave = (seconds: number) => plainWav(Buffer.alloc(32_000 * seconds)).toString("base64");

describe("promptTokens", () => {
  it.each<[string, object]>([
    ["by address", { type: "image_url", image_url: { url } }],
    ["in short", { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
    ["in full", { type: "image_url", image_url: { url: `data:image/png;base64,${base64}`, detail: "high" } }],
    ["as a string", { type: "image_url", image_url: url }],
    ["in the words of Responses", { type: "input_image", image_url: url, detail: "auto" }],
    ["by id", { type: "input_image", file_id: "file-1" }],
    ["in the words of Anthropic", { type: "image", source: { type: "base64", media_type: "image/png", data: base64 } }],
    ["without a type", { image_url: { url } }],
    ["in capitals", { type: "IMAGE_URL", image_url: { url } }],
    ["in capitals within a part", { type: "tool_result", content: [{ Type: "IMAGE_URL", Image_URL: { url } }] }],
    ["in a camel's spelling", { type: "inputImage", imageId: "1" }],
    ["within a part", { type: "tool_result", content: [{ type: "image_url", image_url: { url } }] }],
    ["beside a text", { type: "text", text: "Look!", image_url: { url } }],
  ])("counts an image %s at its bound", (_name, part) => {
    const tokens = tokensOf(user(part), bounds);
    expect(tokens).toBeGreaterThanOrEqual(1000);
    expect(tokens).toBeLessThan(1000 + around);
    expect(tokensOf(user(part, part, part), bounds)).toBeGreaterThanOrEqual(3000);
  });

  const bodyOf = (part: string) => `{"model":"m","messages":[{"role":"user","content":[${part}]}]}`;

  it("counts images whose names are escaped", () => {
    const part = `{"t\\u0079pe":"\\u0069mage_url","im\\u0061ge_url":{"url":"${url}"}}`;
    expect(tokensOfBody(bodyOf(part), bounds)).toBeGreaterThanOrEqual(1000);
    expect(tokensOfBody(bodyOf(`{"type":"tool_result","content":[${part}]}`), bounds)).toBeGreaterThanOrEqual(1000);
  });

  it.each([
    `{"type":"text","type":"image_url","image_url":{"url":"${url}"}}`,
    `{"type":"image_url","type":"text","text":"x","image_url":{"url":"${url}"}}`,
    `{"type":"text","Type":"image_url","image_url":{"url":"${url}"}}`,
    `{"Type":"image_url","Image_URL":{"url":"${url}"}}`,
  ])("is not asked about parts that servers read differently: %s", (part) => {
    expect(() => tokensOfBody(bodyOf(part), bounds)).toThrow();
    expect(tokensOfBody(bodyOf(`{"type":"tool_result","content":[${part}]}`), bounds)).toBeGreaterThanOrEqual(1000);
  });

  it.each<[string, unknown[]]>([
    ["what a tool is called with", user({ type: "tool_use", id: "1", name: "read", input: { file_path: "/x" } })],
    ["members of a call", user({ type: "tool_use", file_path: "/x", document_id: "1" })],
    ["arguments", [{ role: "assistant", tool_calls: [{ function: { arguments: { file_path: "/x", video: "y" } } }] }]],
    ["annotations", [{ role: "assistant", content: "x", annotations: [{ type: "file_citation", file_id: "1" }] }]],
    ["a profile", user({ type: "info", profile: "x", filename: "y" })],
    ["a text with a file's name", user({ type: "text", text: "x", file_name: "y", file_path: "/x" })],
    ["names beside the content", [{ role: "user", content: "x", file_path: "/x", profile: { image: "x" } }]],
  ])("takes %s for text", (_name, messages) => {
    expect(tokensOf(messages)).toBeLessThan(around);
  });

  it("holds the whole context for a part of more media than anybody looks at", () => {
    const part = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`image_${index}`, url]));
    expect(tokensOf(user({ type: "image", ...part }), bounds)).toBe(contextLength);
  });

  it("refuses more parts within parts than anybody looks at", () => {
    const crowd = (part: object, count: number) => user({ type: "tool_result", content: new Array(count).fill(part) });
    expect(() => tokensOf(crowd({ type: "image" }, 20_000), bounds)).toThrow("at most 16384");
    expect(() => tokensOf(crowd({ x: 1, y: 2 }, 150_000), bounds)).toThrow("at most 262144");
    expect(tokensOf(crowd({ x: 1, y: 2 }, 10_000), bounds)).toBeLessThan(contextLength);
  });

  it("counts each of several images in a part", () => {
    expect(tokensOf(user({ type: "images", images: [url, url, url] }), bounds)).toBeGreaterThanOrEqual(3000);
    expect(tokensOf([{ role: "user", content: "Look!", images: [base64, base64] }], bounds)).toBeGreaterThanOrEqual(
      2000,
    );
  });

  it("holds 20 image addresses at what gpt-4o-mini counts for the largest", () => {
    const parts = Array.from({ length: 20 }, () => ({ type: "image_url", image_url: { url } }));
    expect(tokensOf(user(...parts))).toBeGreaterThanOrEqual(20 * (2833 + 8 * 5667));
  });

  it.each<[string, unknown]>([
    [
      "a tool's schema",
      {
        tools: [{ type: "function", function: { name: "f", parameters: { url: `data:image/png;base64,${base64}` } } }],
      },
    ],
    ["what only some servers know", { documents: [{ type: "image_url", image_url: { url: base64 } }] }],
    [
      "the format of the answer",
      { response_format: { type: "image_url", image_url: { url: `data:image/png;base64,${base64}` } } },
    ],
  ])("takes for text what looks like an image in %s", (_name, others) => {
    const tokens = tokensOf([{ role: "user", content: "x" }], bounds, others as object);
    expect(tokens).toBeGreaterThanOrEqual(textTokens(Buffer.from(base64)));
  });

  it.each<[string, unknown[]]>([
    ["a message's text", [{ role: "user", content: `data:image/png;base64,${base64}` }]],
    ["a part's text", user({ type: "text", text: `{"url":"data:image/png;base64,${base64}"}` })],
    ["a text beside an image", user({ type: "text", text: base64, image_url: { url } })],
    [
      "what an assistant called",
      [
        {
          role: "assistant",
          tool_calls: [
            { type: "function", function: { name: "f", arguments: `{"url":"data:image/png;base64,${base64}"}` } },
          ],
        },
      ],
    ],
  ])("counts %s as text", (_name, messages) => {
    expect(tokensOf(messages, bounds)).toBeGreaterThanOrEqual(textTokens(Buffer.from(base64)));
  });

  it.each<[string, object, number]>([
    ["a minute", { type: "input_audio", input_audio: { data: wave(60), format: "wav" } }, 600],
    ["a minute as a data URL", { type: "audio_url", audio_url: { url: `data:audio/wav;base64,${wave(60)}` } }, 600],
    ["a second, as 30", { type: "input_audio", input_audio: { data: wave(1), format: "wav" } }, 300],
  ])("counts audio of %s by its length", (_name, part, expected) => {
    const tokens = tokensOf(user(part), bounds);
    expect(tokens).toBeGreaterThanOrEqual(expected);
    expect(tokens).toBeLessThan(expected * 1.01 + around);
  });

  it.each<[string, unknown[]]>([
    ["audio that is elsewhere", user({ type: "audio_url", audio_url: { url: "https://audio.test/1.wav" } })],
    ["audio of which nothing is known", user({ type: "input_audio", input_audio: { data: base64, format: "wav" } })],
    [
      "a WAV that is said to be another format",
      user({ type: "input_audio", input_audio: { data: wave(60), format: "pcm16" } }),
    ],
    ["an earlier answer's audio", [{ role: "assistant", audio: { id: "audio_1" } }]],
    ["video", user({ type: "video_url", video_url: { url: "https://video.test/1.mp4" } })],
    ["a video in the place of an image", user(asImage("data:video/mp4;base64,AAAA"))],
    ["a video in other letters", user(asImage("\\u0064ATA:VIDEO\\/mp4;base64,AAAA"))],
    ["a video behind space and line breaks", user(asImage(" \\nda\\tta:video/mp4;base64,AAAA"))],
    ["what says no type", user(asImage("data:;base64,AAAA"))],
    ["bytes of any type", user(asImage("data:application/octet-stream;base64,AAAA"))],
    [
      "a video as a text in the place of an image",
      user({ type: "image_url", image_url: "data:video/mp4;base64,AAAA" }),
    ],
    ["an image whose format is a video's", user({ type: "image_url", image_url: { url, format: "video/mp4" } })],
    ["an image whose source is a video", user({ type: "image", source: { media_type: "video/mp4", data: "AAAA" } })],
    ["an image beside whose bytes stands a video's type", user({ type: "image", mimeType: "video/mp4", data: "AAAA" })],
    [
      "images beside the content with a video",
      [{ role: "user", content: "", images: [url, "data:video/mp4;base64,AA"] }],
    ],
    ["a file that is a video", user({ type: "file", file: { file_data: "data:video/mp4;base64,AAAA" } })],
    ["the address of a video", user(asImage("https://www.youtube.com/watch?v=1"))],
    ["a short address of a video", user(asImage("https://youtu.be/1"))],
    ["the file of a video", user(asImage("https://video.test/1.MP4?x=1"))],
    ["a bucket", user(asImage("gs://bucket/image.png"))],
    ["audio in the place of an image", user(asImage("data:audio/mpeg;base64,AAAA"))],
    ["video of single images", user({ type: "video", video: [url, url] })],
  ])("holds the whole context for %s", (_name, messages) => {
    expect(tokensOf(messages, bounds)).toBe(contextLength);
  });

  it.each<[string, object]>([
    ["by id", { type: "file", file: { file_id: "file-1" } }],
    ["in the place of an image", asImage("data:application/pdf;base64,AAAA")],
    ["of text in the place of an image", asImage("data:text/plain;base64,AAAA")],
    ["by its address in the place of an image", asImage("https://files.test/a.pdf")],
    ["in full", { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${base64}` } }],
    ["in the words of Responses", { type: "input_file", file_id: "file-1" }],
    ["in the words of Mistral", { type: "document_url", document_url: "https://files.test/1.pdf" }],
  ])("holds the bound of a file %s, or the whole context", (_name, part) => {
    expect(tokensOf(user(part))).toBe(contextLength);
    const tokens = tokensOf(user(part), bounds);
    expect(tokens).toBeGreaterThanOrEqual(7000);
    expect(tokens).toBeLessThan(7000 + around);
  });

  it("takes empty members of a message for nothing", () => {
    const message = { role: "assistant", content: "Hi", audio: null, images: [], file: {}, video: "" };
    expect(tokensOf([message], bounds)).toBeLessThan(around);
  });

  it("does not look for media deeper than servers do, and ends soon", () => {
    const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
    expect(
      tokensOfBody(`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a","x":${deep}}]}]}`),
    ).toBeLessThan(1000);
  });

  it("covers tools that a template writes anew, a line for each value", () => {
    for (const value of [1, "a", 1e15, true]) {
      const list = Array.from({ length: 1000 }, () => value);
      const tools = JSON.stringify([{ type: "function", function: { name: "f", parameters: { enum: list } } }]);
      const body = `{"model":"m","messages":[{"role":"user","content":""}],"tools":${tools.replaceAll("1000000000000000", "1e15")}}`;
      const spread = JSON.stringify(JSON.parse(tools), null, 4).replaceAll("1000000000000000", "1000000000000000.0");
      expect(tokensOfBody(body)).toBeGreaterThanOrEqual(mostRealTokens(spread).tokens);
    }
  });

  it("does not count what says how to answer", () => {
    const others = {
      user: base64,
      metadata: { note: base64 },
      stop: [base64],
      temperature: 0.5,
      max_tokens: 1_000_000,
    };
    expect(tokensOf([{ role: "user", content: "Say hi" }], bounds, others)).toBe(
      tokensOf([{ role: "user", content: "Say hi" }]),
    );
  });

  it("holds no more than twice what a short prompt is", () => {
    // The text's 3, and OpenAI's 4 for each message and 3 for all of them.
    expect(tokensOf([{ role: "user", content: "Say hi" }])).toBeLessThanOrEqual(20);
    const chat = Array.from({ length: 10 }, (_, index) => [
      { role: "user", content: `What is the name of number ${index}?` },
      { role: "assistant", content: "I do not know that, but I can look for it." },
    ]).flat();
    expect(tokensOf(chat)).toBeLessThanOrEqual(2 * (10 * (9 + 12) + 20 * 4 + 3));
  });

  it("covers what templates put around messages, however many and short", () => {
    for (const count of [1, 10, 1000]) {
      for (const message of [{ role: "user", content: "" }, { role: "user" }, { role: "a", content: "" }]) {
        const messages = Array.from({ length: count }, () => message);
        expect(tokensOf(messages)).toBeGreaterThanOrEqual(5 * count + 4);
      }
    }
  });

  it("holds what is known beyond the context, with or without what nothing is known of", () => {
    const images = { type: "image_url", image_url: Array.from({ length: 2000 }, () => url) };
    const video = { type: "video_url", video_url: { url: "https://video.test/1.mp4" } };
    for (const parts of [[images], [images, video]]) {
      const tokens = tokensOf([{ role: "user", content: parts }], bounds);
      expect(tokens).toBeGreaterThanOrEqual(2000 * 1000);
      expect(tokens).toBeLessThan(2000 * 1000 + around);
    }
  });

  it("counts no less than the text, however short the context is", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 50 }), { minLength: 1, maxLength: 10 }), (texts) => {
        const messages = texts.map((content) => ({ role: "user", content }));
        const text = texts.reduce((sum, content) => sum + textTokens(Buffer.from(content)), 0);
        expect(tokensOf(messages)).toBeGreaterThanOrEqual(text * 0.9);
        const request = atOnce(parseChatRequest(Buffer.from(JSON.stringify({ model: "m", messages })), 256));
        const limits = { contextLength: 7, tokenizer: undefined, tokenBounds: resolveTokenBounds() };
        expect(promptTokens(request, limits).tokens).toBe(tokensOf(messages));
      }),
      { numRuns: 100 },
    );
  });
});
