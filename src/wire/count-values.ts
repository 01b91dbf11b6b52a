import { skipString } from "./json-members.js";

/**
 * Whether a text has more JSON values than that, names included, at a look at each byte: as values, tiny ones take dozens
 * of times the memory of their text. The text must be valid JSON.
 */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  let count = 1;
  for (let at = 0; at < json.length && count <= most; ) {
    const byte = json[at];
    if (byte === 0x22) {
      at = skipString(json, at);
      continue;
    }
    // What opens a list or an object, and what stands before each further element and behind each name.
    if (byte === 0x2c || byte === 0x3a || byte === 0x5b || byte === 0x7b) count++;
    at++;
  }
  return count > most;
}
