import type { Tokenizer } from "./tokenizer.js";

/** What is used of a module of gpt-tokenizer, such as `gpt-tokenizer/encoding/o200k_base`. */
export interface GptTokenizer {
  countTokens(text: string, options: { disallowedSpecial: Set<string> }): number;
}

/** Runs without white space cost more than their length to tokenize: longer texts are counted piece by piece. */
const longestPiece = 1024;

/** What a cut inside a run can add to the count, at most; taken off again, so that the count is never too high. */
const tokensPerCut = 2;

/** Markup such as `<|endoftext|>` is counted as the text that it is in a message. */
const asText = { disallowedSpecial: new Set<string>() };

/**
 * A tokenizer of gpt-tokenizer, for models of OpenAI and those whose vocabulary is near to theirs. Long texts are counted
 * in pieces, and no further than needed, so that no request can keep the process busy for long.
 *
 * @example
 * ```ts
 * import * as o200k from "gpt-tokenizer/encoding/o200k_base";
 *
 * const tokenizer = fromGptTokenizer(o200k);
 * ```
 */
export function fromGptTokenizer(module: GptTokenizer): Tokenizer {
  if (typeof module?.countTokens !== "function") {
    throw new TypeError(
      'fromGptTokenizer: pass a module of gpt-tokenizer, as in import * as o200k from "gpt-tokenizer/encoding/o200k_base".',
    );
  }
  return {
    count(text, most) {
      let tokens = 0;
      for (let start = 0; start < text.length && tokens <= most; ) {
        const { end, torn } = endOfPiece(text, start);
        tokens += module.countTokens(text.slice(start, end), asText);
        if (torn) tokens -= tokensPerCut;
        start = end;
      }
      return Math.max(tokens, 0);
    },
  };
}

/** A piece ends where a tokenizer would begin a new word anyway, if there is such a place; else it is torn. */
function endOfPiece(text: string, start: number): { end: number; torn: boolean } {
  const limit = start + longestPiece;
  if (limit >= text.length) return { end: text.length, torn: false };
  for (let end = limit; end > start; end--) {
    if (text[end] === " " && !isSpace(text[end + 1])) return { end, torn: false };
  }
  const high = text.charCodeAt(limit - 1);
  return { end: high >= 0xd800 && high < 0xdc00 ? limit - 1 : limit, torn: true };
}

function isSpace(character: string | undefined): boolean {
  return character === undefined || character.trim() === "";
}
