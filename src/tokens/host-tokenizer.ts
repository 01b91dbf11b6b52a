import { returnedAtOnce } from "../host-code/returned-at-once.js";
import type { Tokenizer } from "./tokenizer.js";

/**
 * A tokenizer of the host's, whose mistakes harm no call: what it throws, and what is no number, is no count. The prompt is
 * then bounded as without a tokenizer.
 * @param failed - gets what is wrong. Must not throw.
 * @returns a tokenizer that counts `NaN` then.
 */
export function hostTokenizer(tokenizer: Tokenizer, failed: (cause: unknown) => void): Tokenizer {
  return {
    count(text, most) {
      try {
        const counted: unknown = returnedAtOnce("count of a tokenizer", tokenizer.count(text, most), failed);
        if (typeof counted === "number" && counted >= 0) return counted;
        if (counted !== undefined) failed(new TypeError("count of a tokenizer must return a number of at least 0."));
      } catch (cause) {
        failed(cause);
      }
      return Number.NaN;
    },
  };
}
