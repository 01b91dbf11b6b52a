import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { idHash } from "../../../src/ledger/id-hash.js";

function wordsOf(id: string): number[] {
  return [...idHash(id)];
}

/** Hashes another id in between, so that nothing is remembered. */
function hashedAnew(id: string): number[] {
  idHash(`not ${id}`);
  return wordsOf(id);
}

describe("idHash", () => {
  it("is the same for the same id, remembered or not", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 50 }), (id) => {
        const words = hashedAnew(id);
        expect(wordsOf([...id].join(""))).toEqual(words);
        expect(hashedAnew(id)).toEqual(words);
      }),
    );
  });

  it("is MurmurHash3's for whole blocks", () => {
    // As the reference implementation has it, of the same bytes in UTF-16LE.
    expect(wordsOf("req_0123").map((word) => word >>> 0)).toEqual([0x24ef9d87, 0xdc0f99c6, 0x6df94c45, 0x6b19c007]);
    expect(wordsOf("req_0123żółć4567").map((word) => word >>> 0)).toEqual([
      0x3b03d0cb, 0x5eb86285, 0x17c73d64, 0x181fd98c,
    ]);
  });

  it("tells lengths, orders and units apart", () => {
    const ids = ["", "\0", "\0\0", "\0".repeat(7), "\0".repeat(8), "\0".repeat(9), "a", "a\0", "\0a", "ab", "ba"];
    // Units whose lower bytes are the same, at each place of a block.
    for (let at = 0; at < 20; at++) {
      ids.push(`${"x".repeat(at)}a${"x".repeat(19 - at)}`, `${"x".repeat(at)}\u0161${"x".repeat(19 - at)}`);
    }
    expect(new Set(ids.map((id) => wordsOf(id).join())).size).toBe(ids.length);
  });

  it("has no word in which like ids come together", () => {
    const ids = Array.from({ length: 50_000 }, (_, index) => `req_00000000-0000-4000-8000-${index}`);
    const hashes = ids.map(wordsOf);
    for (let word = 0; word < 4; word++) {
      // Of 50,000 at random in 2^32, about 0.3 meet another; of their lower or upper 16 bits, each value has 0.76.
      expect(new Set(hashes.map((words) => words[word])).size).toBeGreaterThan(ids.length - 5);
      for (const shift of [0, 16]) {
        const counts = new Uint32Array(65_536);
        for (const words of hashes) {
          const value = ((words[word] as number) >>> shift) & 0xffff;
          counts[value] = (counts[value] as number) + 1;
        }
        expect(Math.max(...counts)).toBeLessThan(12);
        expect(counts.filter((count) => count > 0).length).toBeGreaterThan(34_000);
      }
    }
  });
});
