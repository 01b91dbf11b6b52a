import { costRuns } from "./cost-runs.js";

/** The first character that is none of ASCII. */
const first = 0x80;

/** Characters beyond the table have four bytes, and are as many tokens at the most. */
const beyond = 4;

const costs = readRuns();

function readRuns(): Uint8Array {
  const found: number[] = [];
  for (const [, cost, letters = ""] of costRuns.replaceAll("\n", "").matchAll(/(\d)([a-z]*)/g)) {
    let length = 0;
    for (const letter of letters) length = length * 26 + letter.charCodeAt(0) - 0x61;
    for (let left = Math.max(length, 1); left > 0; left--) found.push(Number(cost));
  }
  return Uint8Array.from(found);
}

/** Some libraries take it for no part of their vocabulary's texts, and count its bytes. */
const byteOrderMark = 0xfeff;

/** The most tokens that a character counts, whatever is next to it. Not for ASCII. */
export function characterCost(codePoint: number): number {
  if (codePoint === byteOrderMark) return 3;
  return costs[codePoint - first] ?? beyond;
}
