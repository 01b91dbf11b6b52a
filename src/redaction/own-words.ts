import { asBuffer } from "../wire/as-buffer.js";

/** So many words are looked for in the request. */
const mostLookups = 32;
/** So long a word is not in a request by chance. */
const distinctLength = 8;

/** What of an upstream's words the client has sent itself. */
export interface OwnWords {
  /** Whether the request has the word: a short one as a whole text or name. */
  has(word: string): boolean;
}

export function ownWords(request: Uint8Array | undefined): OwnWords {
  let lookups = 0;
  const buffer = request === undefined ? undefined : asBuffer(request);
  return {
    has(word) {
      if (buffer === undefined || word.length < 2 || lookups++ >= mostLookups) return false;
      return buffer.includes(word.length < distinctLength ? JSON.stringify(word) : word);
    },
  };
}
