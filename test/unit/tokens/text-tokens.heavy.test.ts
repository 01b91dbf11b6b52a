import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sampledTokens, textTokens } from "../../../src/tokens/text-tokens.js";
import { mostRealTokens, realTokenizers } from "../../support/real-tokenizers.js";
import { commonTexts, noise, otherTexts } from "../../support/text-samples.js";

const inJson = (text: string) => Buffer.from(JSON.stringify(text).slice(1, -1));
const inAscii = (text: string) =>
  inJson(text)
    .toString()
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The bound of the text by itself, as it stands in JSON, and as it stands there where every letter may be escaped. */
function bounds(text: string): number[] {
  return [textTokens(Buffer.from(text)), textTokens(inJson(text), true), textTokens(Buffer.from(inAscii(text)), true)];
}

function expectBound(text: string): void {
  const { tokens, tokenizer } = mostRealTokens(text);
  for (const bound of bounds(text)) {
    if (bound < tokens) throw new Error(`${bound} is held for ${tokens} of ${tokenizer}: ${JSON.stringify(text)}`);
  }
}

/** Of the code points that a text can hold, some of each script. */
function* scripts(step: number): Generator<string> {
  for (let start = 0; start < 0x20000; start += 32) {
    const points = Array.from({ length: 32 }, (_, offset) => start + offset * 1);
    const characters = points
      .filter((point) => point < 0xd800 || point > 0xdfff)
      .map((point) => String.fromCodePoint(point));
    if ((start / 32) % step === 0 && characters.length > 0) yield characters.join("");
  }
}

describe("textTokens", () => {
  it.each(Object.entries({ ...commonTexts, ...otherTexts }))(
    "is at least what every tokenizer counts for %s",
    (_name, text) => {
      expectBound(text);
    },
  );

  it("is at most twice that of what people send most, on the average", () => {
    const averages = Object.entries(commonTexts).map(([name, text]) => {
      const ratios = Object.values(realTokenizers).map((count) => textTokens(Buffer.from(text)) / count(text));
      const average = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
      expect(average, name).toBeLessThanOrEqual(2);
      return average;
    });
    expect(averages.reduce((sum, average) => sum + average, 0) / averages.length).toBeLessThanOrEqual(1.7);
  });

  it("holds for all scripts, their characters in order", () => {
    for (const text of scripts(17)) expectBound(text);
  });

  it("holds for generated texts", () => {
    const from = (low: number, high: number) =>
      fc.integer({ min: low, max: high }).map((point) => String.fromCodePoint(point));
    const word = fc.array(from(0x61, 0x7a), { minLength: 1, maxLength: 12 }).map((all) => all.join(""));
    const piece = fc.oneof(
      word,
      word.map((text) => ` ${text}`),
      fc.string({ maxLength: 12 }),
      fc.string({ unit: "grapheme", maxLength: 6 }),
      fc.constantFrom(
        " ",
        "  ",
        "\n",
        "\t",
        "\r\n",
        "'s",
        "'ll",
        "000",
        "<|endoftext|>",
        "\\",
        '"',
        "://",
        "});",
        "\u00a0",
        "\u3000",
      ),
      from(0x00a0, 0x07ff),
      from(0x0800, 0x1fff),
      from(0x3040, 0x30ff),
      from(0x4e00, 0x9fff),
      from(0xac00, 0xd7a3),
      from(0xe000, 0xfdff),
      from(0x10000, 0x1fbff),
    );
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 40 }), (pieces) =>
        expectBound(pieces.join("").toWellFormed()),
      ),
      { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
    );
  });

  it.each([
    ["letters that make no words", "qzxv jkwq vbnx"],
    ["letters by pairs that words have", "hthehtherherethatont"],
    ["a space before characters that are one token", " 告 面 索 队"],
    ["characters whose bytes belong to others, too", "一ก所ข最ค"],
    ["Hebrew and musical characters that fall apart", "\u{1d160}\u{1d161}\ufb2c\ufb2d\u0344"],
    ["slashes that begin a line", "?\r/\\ \n//!!!! \n/!\n/?!"],
    ["musical characters that normalization takes apart", "\u{1d1bf} \u{1d1bf}\u{1d1bf}"],
    ["byte order marks", "\ufeff \ufeff\ufeff"],
    ["characters that normalization takes apart", "ଡ଼ ଡ଼ଡ଼ שׁ שׁ"],
    ["words that lose their letters to each other", " amaNous prixAudio mondBernOxEss verkJos"],
    [
      "words in capitals that lose their letters",
      " WARRANTRect DEFAULTEast NetflixEll YOUPractice KINDEntre LLExperience",
    ],
    ["words behind contractions", "'decimal a'default 'READ s'teacher 'removed"],
    ["words behind several spaces", "  abroad   abroad\n    abroad:"],
    ["words behind marks", ":convenience /surrounding .Robert 'Should “involves” \u00e9the"],
    ["halves of a pair", "\u{1f600}\u{1f601}"],
  ])("holds for %s, many times over", (_name, text) => {
    for (const times of [1, 3, 40]) expectBound(text.repeat(times));
  });
});

describe("textTokens of a long text", () => {
  const whole = (text: Buffer, isJson: boolean) => {
    let sum = 0;
    for (let at = 0; at < text.length; at += 8000) sum += textTokens(text.subarray(at, at + 8000), isJson);
    return sum;
  };
  const prose = "the people that were there said that they would have been there for the others, ".repeat(3000);
  const seeds = Array.from({ length: 300 }, (_, index) => (index + 0.5) / 300);

  it.each([16, 64, 100, 128, 512, 520, 1024, 4096])("finds what hides every %i bytes, wherever", (period) => {
    for (const share of [0.1, 0.5, 0.9]) {
      const text = Buffer.from(prose).subarray(0, 204_800);
      const dense = Buffer.from(noise(period, period).map((byte) => 0x21 + (byte % 14)));
      const length = Math.max(1, Math.floor(period * share));
      for (let at = 0; at + length < text.length; at += period) dense.copy(text, at, 0, length);
      const exact = whole(text, true);
      for (const seed of seeds.slice(0, 20)) expect(textTokens(text, true, () => seed)).toBeGreaterThanOrEqual(exact);
    }
  });

  it("is near the sum of its parts, and not below it, whatever the random numbers", () => {
    const texts = { ...commonTexts, ...otherTexts };
    const mixed = Object.values(texts).join("\n");
    for (const text of [prose, mixed.repeat(4), commonTexts["Chinese"] ?? "", commonTexts["JSON"] ?? ""]) {
      const bytes = inJson(text.repeat(Math.ceil(100_000 / text.length)));
      const exact = whole(bytes, true);
      const sampled = seeds.map((seed) => textTokens(bytes, true, () => seed));
      expect(Math.min(...sampled)).toBeGreaterThanOrEqual(exact);
      expect(Math.max(...sampled)).toBeLessThanOrEqual(exact * 1.5);
    }
  });

  it("is near the sum of the parts of several texts, and not below it", () => {
    const { Chinese = "", JSON: json = "" } = commonTexts;
    const long = (text: string, length: number) => inJson(text.repeat(Math.ceil(length / text.length)));
    const dense = Buffer.from(noise(16_000, 16_000).map((byte) => 0x21 + (byte % 14)));
    for (const texts of [
      [long(prose, 120_000), long(json, 30_000)],
      [long(json, 10_000), long(Chinese, 20_000), long(prose, 80_000), dense],
      [dense, long(prose, 9000), long(prose, 9000), long(prose, 9000)],
    ]) {
      const exact = texts.reduce((sum, text) => sum + whole(text, true), 0);
      const sampled = seeds.map((seed) => sampledTokens(texts, true, () => seed));
      expect(Math.min(...sampled)).toBeGreaterThanOrEqual(exact);
      expect(Math.max(...sampled)).toBeLessThanOrEqual(exact * 1.5);
    }
    expect(sampledTokens([], true)).toBe(0);
    expect(sampledTokens([dense], true, () => 0.3)).toBe(textTokens(dense, true, () => 0.3));
  });

  it("counts runs of letters alike wherever a block begins, whatever their length", () => {
    for (let length = 20; length <= 60; length += 4) {
      for (const end of ["applications", "applicationsapplications", "the"]) {
        const run = `${"qzxvjkwqpzxbvnmqwkjhzxcvbqwpoiuzxmnbvqkwjz".repeat(2).slice(0, length)}${end} `;
        const bytes = Buffer.from(run.repeat(Math.ceil(30_000 / run.length)));
        const exact = whole(bytes, true);
        for (const seed of seeds.slice(0, 10))
          expect(textTokens(bytes, true, () => seed)).toBeGreaterThan(exact * 0.99);
      }
    }
  });

  it("reads escapes and characters as what they are, wherever a block begins", () => {
    for (const piece of ["\\u4e2d", "\\n", "\\\\", "中", "é", "😀", "\\ud83d\\ude00", '\\"']) {
      const bytes = Buffer.from(piece.repeat(Math.ceil(50_000 / Buffer.byteLength(piece))));
      const exact = whole(bytes.subarray(0, 8000 - (8000 % Buffer.byteLength(piece))), true) / 8000;
      for (const seed of seeds.slice(0, 20)) {
        const sampled = textTokens(bytes, true, () => seed) / bytes.length;
        expect(sampled).toBeGreaterThanOrEqual(exact * 0.99);
        expect(sampled).toBeLessThanOrEqual(exact * 1.35 + 0.01);
      }
    }
  });
});
