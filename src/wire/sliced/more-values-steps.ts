import { skipString } from "../json-members.js";
import type { Leaps } from "../leaps.js";
import { SliceCount, type Steps } from "../slices.js";

/**
 * Whether a text has more JSON values than that, names included, at a look at each byte: as values, tiny ones take dozens
 * of times the memory of their text. The text must be valid JSON.
 * @param leaps - the ends of long values, by their starts.
 * @param elements - whether the elements of lists count by themselves. A list of numbers takes little memory. Default: they do.
 */
export function* moreValuesSteps(json: Uint8Array, leaps: Leaps, most: number, elements = true): Steps<boolean> {
  const slices = new SliceCount();
  let count = 1;
  let looked = 0;
  for (let at = 0; at < json.length && count <= most; ) {
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
    at++;
  }
  return count > most;
}

const lookedAtOnce = 16 * 1024;
