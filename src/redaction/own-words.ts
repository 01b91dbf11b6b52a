import { asBuffer } from "../wire/as-buffer.js";

/** So many words are looked for in the request, and fewer in a long one: so many bytes are searched in all. */
const mostLookups = 32;
const mostSearched = 128 * 1024 * 1024;
/** No longer word is looked for: it takes longest. */
const longestWord = 512;
/** So long a word is not in a request by chance. */
const distinctLength = 8;

/** What of an upstream's words the client has sent itself. */
export interface OwnWords {
  /** Whether the request has the word: a short one as a whole text or name. */
  has(word: string): boolean;
}

export function ownWords(request: Uint8Array | undefined): OwnWords {
  const buffer = request === undefined ? undefined : asBuffer(request);
  let left = Math.min(mostLookups, Math.floor(mostSearched / Math.max(1, buffer?.length ?? 1)));
  return {
    has(word) {
      if (buffer === undefined || word.length < 2 || word.length > longestWord || left-- <= 0) return false;
      return buffer.includes(word.length < distinctLength ? JSON.stringify(word) : word);
    },
  };
}
