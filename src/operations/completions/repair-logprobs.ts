import { isRecord } from "../../wire/is-record.js";

/** What OpenAI says of tokens that are too unlikely to have a number. */
const veryUnlikely = -9999;

/**
 * Repairs a choice in place whose log probabilities are in the words of chat, as llama.cpp's are. Clients of this API look
 * for its lists.
 * @param offset - how much of the choice's text has come before.
 * @returns whether anything was changed.
 */
export function repairLogprobs(choice: Record<string, unknown>, offset: number): boolean {
  const { logprobs } = choice;
  if (!isRecord(logprobs) || !Array.isArray(logprobs["content"]) || logprobs["tokens"] !== undefined) return false;
  const items = logprobs["content"].filter(isRecord);
  const tokens = items.map(textOf);
  let at = offset;
  choice["logprobs"] = {
    tokens,
    token_logprobs: items.map(chanceOf),
    top_logprobs: items.map(({ top_logprobs: top }) =>
      Object.fromEntries(
        (Array.isArray(top) ? top.filter(isRecord) : []).map((item) => [textOf(item), chanceOf(item)]),
      ),
    ),
    text_offset: tokens.map((token) => {
      at += token.length;
      return at - token.length;
    }),
  };
  return true;
}

function textOf({ token }: Readonly<Record<string, unknown>>): string {
  return typeof token === "string" ? token : "";
}

function chanceOf({ logprob }: Readonly<Record<string, unknown>>): number {
  return typeof logprob === "number" ? logprob : veryUnlikely;
}
