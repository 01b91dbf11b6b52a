import { asBuffer } from "../wire/as-buffer.js";

/** So many words are looked for in the request. */
const mostLookups = 32;
/** So long a word is not in a request by chance. */
const distinctLength = 8;
/** So near to each other are the names of a path that stand in each other. */
const reach = 4096;

/** What of an upstream's words the client has sent itself. */
export interface OwnWords {
  /** Whether the request has the word: a short one as a whole text or name. */
  has(word: string): boolean;
  /** Whether the request has these names, one behind the other. */
  hasNames(names: readonly string[]): boolean;
}

export function ownWords(request: Uint8Array | undefined): OwnWords {
  let lookups = 0;
  const buffer = request === undefined ? undefined : asBuffer(request);
  return {
    has(word) {
      if (buffer === undefined || word.length < 4 || lookups++ >= mostLookups) return false;
      return buffer.includes(word.length < distinctLength ? JSON.stringify(word) : word);
    },
    hasNames([first, ...others]) {
      if (buffer === undefined || first === undefined || lookups++ >= mostLookups) return false;
      let place = buffer.indexOf(JSON.stringify(first));
      for (const name of others) {
        if (place < 0) return false;
        const found = buffer.subarray(place + 1, place + reach).indexOf(JSON.stringify(name));
        place = found < 0 ? -1 : place + 1 + found;
      }
      return place >= 0;
    },
  };
}
