import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { skipPlainWords, wordsOf } from "../../../../src/wire/word-scan.js";

const length = 600;
/** What a word ends short of at the text's end. */
const shortOfAWord = 3;

/** A text of the letter a in a larger buffer, so that it begins anywhere in a word. */
function textAt(offset: number): Buffer {
  return Buffer.from(new ArrayBuffer(length + offset + 5))
    .fill("a")
    .subarray(offset, offset + length);
}

function skip(bytes: Buffer, from: number): number {
  const words = wordsOf(bytes);
  if (words === undefined) throw new Error("The text is long enough for words.");
  return skipPlainWords(words, from);
}

describe("skipPlainWords", () => {
  it("stops at quotes, backslashes and controls, and at no other byte", () => {
    for (let byte = 0; byte < 256; byte++) {
      const bytes = textAt(0);
      bytes[321] = byte;
      const stops = byte < 0x20 || byte === 0x22 || byte === 0x5c;
      const found = skip(bytes, 7);
      if (stops) expect(found).toBe(321);
      else expect(found).toBeGreaterThanOrEqual(length - shortOfAWord);
    }
  });

  it("stops at the first of them, wherever it stands, wherever the text begins, and from wherever it is looked for", () => {
    for (const stop of [0x00, 0x1f, 0x22, 0x5c]) {
      for (let offset = 0; offset < 4; offset++) {
        const bytes = textAt(offset);
        for (let place = 0; place < length - shortOfAWord; place++) {
          bytes[place] = stop;
          // What lies behind the first must not be taken for it.
          bytes[place + 1] = 0x22;
          for (const from of [Math.max(0, place - 41), Math.max(0, place - (place % 7)), place]) {
            expect(skip(bytes, from)).toBe(place);
          }
          bytes[place] = 0x61;
          bytes[place + 1] = 0x61;
        }
      }
    }
  });

  it("passes over those before the position", () => {
    for (let offset = 0; offset < 4; offset++) {
      for (let from = 1; from < 24; from++) {
        const bytes = textAt(offset).fill('"', 0, from);
        expect(skip(bytes, from)).toBeGreaterThanOrEqual(length - shortOfAWord);
      }
    }
  });
});
