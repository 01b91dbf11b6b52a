import type { Span } from "../../model-api/prompt/message-outline.js";
import type { Tokenizer } from "../../tokens/tokenizer.js";
import { elementsOf, memberOf, membersOf } from "../../wire/json-members.js";
import { countedTokensOf, leastTokensOf } from "../chat/least-tokens.js";
import type { ResponsesRequest } from "./responses-request.js";

/**
 * Whether the texts of the input alone exceed a model's context. It is certain: the count is a lower bound for every
 * tokenizer, or comes from the model's own.
 */
export function isInputTooLong(
  request: ResponsesRequest,
  contextLength: number,
  tokenizer: Tokenizer | undefined,
): boolean {
  const { body } = request;
  // A word has at least two bytes, including the white space after it; a token has at least one.
  if (body.length / 2 > contextLength && leastTokensOf(body, inputTexts(request), contextLength) > contextLength) {
    return true;
  }
  if (tokenizer === undefined || body.length <= contextLength) return false;
  return countedTokensOf(body, inputTexts(request), contextLength, tokenizer) > contextLength;
}

/** The insides of strings that a model certainly reads. Escapes are not resolved. */
function* inputTexts({ body, members, leaps, items }: ResponsesRequest): Iterable<Span> {
  for (const name of ["instructions", "input"]) {
    const text = memberOf(members, name);
    if (text !== undefined && body[text.start] === 0x22) yield inside(text);
  }
  for (const { contents } of items ?? []) {
    for (const content of contents) {
      if (body[content.start] === 0x22) yield inside(content);
      if (body[content.start] !== 0x5b) continue;
      for (const part of elementsOf(body, content.start, leaps)) {
        const text = body[part] === 0x7b ? memberOf(membersOf(body, part, undefined, leaps), "text") : undefined;
        if (text !== undefined && body[text.start] === 0x22) yield inside(text);
      }
    }
  }
}

function inside({ start, end }: Span): Span {
  return { start: start + 1, end: end - 1 };
}
