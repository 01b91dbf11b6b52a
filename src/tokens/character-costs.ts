import { costRuns } from "./cost-runs.js";

/** The first character that is none of ASCII. */
const first = 0x80;

/** Characters beyond the table have four bytes, and are as many tokens at the most. */
const beyond = 4;

/** Read when the first text beyond ASCII is counted. */
let costs: Uint8Array | undefined;

const [lineFeed, zero, smallA] = [0x0a, 0x30, 0x61];

/** Goes over {@link costRuns} by its characters: a regular expression takes several times as long, within a call. */
function readRuns(): Uint8Array {
  const table = new Uint8Array(0x11_0000 - first);
  let end = 0;
  let cost = 0;
  let length = 0;
  for (let at = 1; at <= costRuns.length; at++) {
    const code = at === costRuns.length ? zero : costRuns.charCodeAt(at);
    if (code >= smallA) length = length * 26 + code - smallA;
    else if (code !== lineFeed) {
      const start = end;
      if (cost > 0) end += Math.max(length, 1);
      table.fill(cost, start, end);
      cost = code - zero;
      length = 0;
    }
  }
  return table.subarray(0, end);
}

/** Some libraries take it for no part of their vocabulary's texts, and count its bytes. */
const byteOrderMark = 0xfeff;

/** The most tokens that a character counts, whatever is next to it. Not for ASCII. */
export function characterCost(codePoint: number): number {
  if (codePoint === byteOrderMark) return 3;
  costs ??= readRuns();
  return costs[codePoint - first] ?? beyond;
}
