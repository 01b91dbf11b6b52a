import { skipString } from "../json-members.js";
import type { Leaps } from "../leaps.js";
import { SliceCount, type Steps } from "../slices.js";

/** How many values a text may have. */
export interface MostValues {
  /** Of all, names included. */
  readonly all: number;
  /** Whether the elements of lists count by themselves. A list of numbers takes little memory. Default: they do. */
  readonly elements?: boolean;
  /** Members of one object. Each name of its own takes a hundred times as long as one that others have, too. Default: any. */
  readonly ofObject?: number;
}

/**
 * Whether a text has more JSON values than that, at a look at each byte: as values, tiny ones take dozens of times the memory
 * of their text. The text must be valid JSON.
 * @param leaps - the ends of long values, by their starts.
 * @returns which bound it exceeds; `undefined`: none.
 */
export function* moreValuesSteps(
  json: Uint8Array,
  leaps: Leaps,
  { all, elements = true, ofObject = all }: MostValues,
): Steps<"all" | "ofObject" | undefined> {
  const slices = new SliceCount();
  const around: number[] = [];
  let members = 0;
  let count = 1;
  let looked = 0;
  for (let at = 0; at < json.length && count <= all && members <= ofObject; ) {
    if (at - looked >= lookedAtOnce) {
      if (slices.isFull(at - looked)) yield;
      looked = at;
    }
    const byte = json[at];
    if (byte === 0x22) {
      const end = leaps.get(at);
      at = end ?? skipString(json, at);
      // A leap costs nothing.
      if (end !== undefined) looked = at;
      continue;
    }
    // What opens a list or an object, and what stands before each further element and behind each name.
    if (byte === 0x3a || byte === 0x5b || byte === 0x7b || (elements && byte === 0x2c)) count++;
    if (byte === 0x3a) members++;
    else if (byte === 0x7b) {
      around.push(members);
      members = 0;
    } else if (byte === 0x7d) members = around.pop() ?? 0;
    at++;
  }
  if (members > ofObject) return "ofObject";
  return count > all ? "all" : undefined;
}

const lookedAtOnce = 16 * 1024;
