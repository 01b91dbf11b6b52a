import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextSample } from "../../../src/tokens/text-sample.js";
import { textTokens } from "../../../src/tokens/text-tokens.js";
import { mostRealTokens, realTokenizers } from "../../support/real-tokenizers.js";
import { commonTexts, otherTexts, responseTexts } from "../../support/text-samples.js";

/** A text as it comes, cut after so many characters by turns. */
function sampleOf(text: string, cuts: readonly number[] = [text.length || 1]): TextSample {
  const sample = new TextSample();
  const characters = Array.from(text);
  for (let at = 0, turn = 0; at < characters.length; turn++) {
    const next = at + (cuts[turn % cuts.length] as number);
    sample.addText(characters.slice(at, next).join(""));
    at = next;
  }
  return sample;
}

describe("a text that comes in pieces", () => {
  it.each(Object.entries({ ...responseTexts, ...otherTexts }))(
    "has at least the tokens that any model wrote: %s",
    (_name, text) => {
      const sample = sampleOf(text, [1, 2, 5]);
      expect(sample.bytes).toBe(Buffer.byteLength(text));
      expect(sample.tokens()).toBeGreaterThanOrEqual(mostRealTokens(text).tokens);
    },
  );

  it("counts what the bound of prompts counts, however it is cut", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 2000 });
    const cuts = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(text, cuts, (whole, lengths) => {
        expect(sampleOf(whole, lengths).tokens()).toBe(textTokens(Buffer.from(whole)));
      }),
    );
  });

  it("counts what stands in JSON as the characters that it stands for", () => {
    const text = '{"a":\t"b\\"}\n\r/'.repeat(20);
    const json = Buffer.from(JSON.stringify(text));
    const sample = new TextSample();
    const escapes = json.length - 2 - Buffer.byteLength(text);
    sample.addEscaped(json, 1, json.length - 1, escapes);
    expect(sample.bytes).toBe(text.length);
    expect(sample.tokens()).toBe(textTokens(Buffer.from(text)));
  });

  it.each(Object.entries({ ...responseTexts, ...commonTexts }))(
    "keeps 8 KiB of a long one, which say enough: %s",
    (_name, text) => {
      const long = text.repeat(Math.ceil(200_000 / text.length));
      const sample = sampleOf(long, [3, 40, 700]);
      const most = mostRealTokens(text).tokens * (long.length / text.length);
      expect(sample.tokens()).toBeGreaterThan(most * 0.98);
      const bound = textTokens(Buffer.from(text)) * (long.length / text.length);
      expect(sample.tokens()).toBeLessThan(bound * 1.35);
    },
  );

  it("sees all parts of a long one", () => {
    const { English = "", digits = "" } = responseTexts;
    const english = realTokenizers["Llama 3"]?.(English) ?? 0;
    for (const [first, second] of [
      [3, 40],
      [20, 20],
      [40, 3],
    ] as const) {
      const text = `${digits.repeat(first)}${English.repeat(second)}`;
      // Each digit is a token.
      const real = digits.length * first + english * second;
      const tokens = sampleOf(text, [7]).tokens();
      expect(tokens).toBeGreaterThan(real * 0.95);
      expect(tokens).toBeLessThan(textTokens(Buffer.from(text)) * 1.15);
    }
  });

  it("is nothing at first, and grows", () => {
    const sample = new TextSample();
    expect([sample.bytes, sample.tokens()]).toEqual([0, 0]);
    let before = 0;
    for (let piece = 0; piece < 3000; piece++) {
      sample.addText(`word ${piece}, `);
      if (piece % 500 !== 0) continue;
      expect(sample.tokens()).toBeGreaterThan(before);
      before = sample.tokens();
    }
  });
});
