import { describe, expect, it } from "vitest";
import { textTokens } from "../../../src/tokens/text-tokens.js";
import { mostRealTokens, realTokenizers } from "../../support/real-tokenizers.js";
import { commonTexts, otherTexts } from "../../support/text-samples.js";
import { alphabets, Crafting } from "./crafted-texts.js";

/** The same in every run, unless told otherwise. */
let state = Number(process.env["SEED"] ?? 1);
function random(): number {
  state = (state * 48271) % 2147483647;
  return state / 2147483647;
}

/** How often the real count each text is held at. */
function print(title: string, ratios: readonly number[]): void {
  const sorted = ratios.toSorted((one, other) => one - other);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(2);
  process.stdout.write(
    `${title}: least ${at(0)}, 10 % ${at(0.1)}, median ${at(0.5)}, 90 % ${at(0.9)}, most ${at(1)}\n`,
  );
}

describe("what is held for a text", () => {
  it("is told for all samples", () => {
    for (const [name, text] of Object.entries({ ...commonTexts, ...otherTexts })) {
      const bound = textTokens(Buffer.from(text));
      const ratios = Object.values(realTokenizers).map((count) => bound / count(text));
      process.stdout.write(`${name}: ${ratios.map((ratio) => ratio.toFixed(2)).join(" ")}\n`);
      expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1);
    }
  });

  it("is enough for every character, alone, behind a space and many times over", () => {
    const ratios: number[] = [];
    for (let point = 0x80; point < 0x20000; point++) {
      if (point >= 0xd800 && point < 0xe000) continue;
      const character = String.fromCodePoint(point);
      const text = `${character} ${character}${character}`;
      const { tokens } = mostRealTokens(text);
      ratios.push(textTokens(Buffer.from(text)) / tokens);
      if (textTokens(Buffer.from(text)) < tokens) throw new Error(`${tokens} tokens: ${JSON.stringify(text)}`);
    }
    print("characters", ratios);
  });

  it("is enough for characters in any order", () => {
    const point = () => {
      const found = Math.floor(0x80 + random() ** 3 * 0x1fb00);
      return found >= 0xd800 && found < 0xe000 ? found - 0x5000 : found;
    };
    const ratios = Array.from({ length: 20_000 }, () => {
      const near = point();
      const text = Array.from({ length: 12 }, () => {
        const chosen = random();
        if (chosen < 0.1) return " ";
        return String.fromCodePoint(chosen < 0.5 ? point() : Math.max(0x80, near - 32 + Math.floor(random() * 64)));
      }).join("");
      const { tokens } = mostRealTokens(text.toWellFormed());
      if (textTokens(Buffer.from(text)) < tokens) throw new Error(`${tokens} tokens: ${JSON.stringify(text)}`);
      return textTokens(Buffer.from(text)) / tokens;
    });
    print("characters in any order", ratios);
  });

  describe.each(Object.keys(realTokenizers))("is enough for what is crafted against %s", (tokenizer) => {
    it.each(Object.entries(alphabets))("of %s", (name, alphabet) => {
      const crafting = new Crafting(tokenizer, alphabet, random);
      const found = Array.from({ length: Number(process.env["TEXTS"] ?? 40) }, () => crafting.craft());
      const worst = found.reduce((one, other) => (other.ratio > one.ratio ? other : one));
      print(
        `${tokenizer}, ${name}`,
        found.map(({ ratio }) => 1 / ratio),
      );
      if (worst.ratio > 1) throw new Error(`${worst.ratio} times what it counts: ${JSON.stringify(worst.text)}`);
    });
  });
});
