import { largestCount } from "../../metering/token-counts.js";
import type { JsonRequest } from "../../model-api/request/json-request.js";
import { wordTokens } from "../../openai/chat/least-tokens.js";
import { mostTokens } from "../../tokens/tokenizer.js";
import { memberOf, valueAt } from "../../wire/json-members.js";
import type { Demand, ModelTraits } from "../operation.js";
import { contextLengthExceeded } from "../require-fit.js";
import { type Input, marks } from "./input-reader.js";

type Counting = Pick<ModelTraits, "contextLength" | "tokenizer">;

/** The most tokens of an input. Of media that nothing limits, as many as the model's context. */
export function countInput(body: Uint8Array, input: Input, { contextLength, tokenizer }: Counting): number {
  if (tokenizer !== undefined && isText(body, input)) {
    // It stops counting beyond the context.
    const counted = mostTokens(textAt(body, input), tokenizer, contextLength - marks);
    if (counted !== undefined) return counted + marks;
  }
  return Number.isFinite(input.tokens) ? input.tokens : contextLength;
}

/** What inputs of so many tokens ask of a model. It reads at most its context of each. */
export function promptDemand(
  tokens: readonly number[],
  { contextLength }: Counting,
): Pick<Demand, "promptTokens" | "heldPromptTokens" | "promptBound"> {
  const promptTokens = tokens.reduce((sum, each) => sum + Math.min(each, contextLength), 0);
  const heldPromptTokens = Math.min(
    tokens.reduce((sum, each) => sum + each, 0),
    largestCount,
  );
  return { promptTokens: Math.min(promptTokens, heldPromptTokens), heldPromptTokens, promptBound: undefined };
}

/**
 * Refuses an input that certainly has more tokens than the model's context. It counts given tokens, or uses the
 * tokenizer, or counts words: each word is at least one token.
 * @param param - the member that holds the inputs.
 * @throws GatewayError 400
 */
export function requireInputsFit(
  { body, members }: Pick<JsonRequest, "body" | "members">,
  inputs: readonly Input[],
  param: string,
  { enforcesContext, contextLength, tokenizer }: ModelTraits,
): void {
  // A token has at least one byte.
  if (!enforcesContext || body.length <= contextLength) return;
  const place = inputs.findIndex((input) => isTooLong(body, input, { contextLength, tokenizer }));
  if (place < 0) return;
  const isDirect = inputs[place]?.start === memberOf(members, param)?.start;
  throw contextLengthExceeded(contextLength, isDirect ? param : `${param}[${place}]`);
}

function isTooLong(body: Uint8Array, input: Input, { contextLength, tokenizer }: Counting): boolean {
  if (!isText(body, input)) return body[input.start] === 0x5b && input.tokens > contextLength;
  const { start, end } = input;
  if (tokenizer !== undefined) return tokenizer.count(textAt(body, input), contextLength) > contextLength;
  // A word has at least two bytes, including the white space after it.
  if ((end - start) / 2 <= contextLength) return false;
  return wordTokens(body, { start: start + 1, end: end - 1 }, contextLength, Number.POSITIVE_INFINITY) > contextLength;
}

function isText(body: Uint8Array, { start }: Pick<Input, "start">): boolean {
  return body[start] === 0x22;
}

function textAt(body: Uint8Array, input: Input): string {
  return String(valueAt(body, input));
}
