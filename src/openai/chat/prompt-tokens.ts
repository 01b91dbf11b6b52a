import { Buffer } from "node:buffer";
import { textTokens } from "../../tokens/text-tokens.js";
import type { ResolvedTokenBounds } from "../../tokens/token-bounds.js";
import { mostMissed, type Tokenizer } from "../../tokens/tokenizer.js";
import { memberOf } from "../../wire/json-members.js";
import { mediaTokens } from "../media/media-tokens.js";
import { type Media, messageMedia, textsBetween, type WithMessages } from "../media/message-media.js";

const [quote, openBracket, openBrace] = [0x22, 0x5b, 0x7b];

/** What servers tell a model about tools of their own accord: Anthropic's 346 tokens are the most that is known. */
const toolsPreamble = 350;

/** What templates put behind the messages, for the answer to begin. */
const answerPreamble = 4;

/** What bounds a prompt, of the model. */
export interface PromptLimits {
  /** No prompt has more tokens. */
  readonly contextLength: number;
  readonly tokenizer: Tokenizer | undefined;
  readonly tokenBounds: ResolvedTokenBounds;
}

/** Members that say how to answer, by text or JSON. What else is text or JSON may be shown to the model. */
const besidePrompt = new Set([
  "model",
  "stop",
  "stream_options",
  "modalities",
  "reasoning_effort",
  "verbosity",
  "logit_bias",
  "service_tier",
  "metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
]);

/**
 * The most tokens that the prompt of a chat can have: its images, audio and files at their bounds, and all else that a
 * model may be shown as text, in which the JSON's names and marks make up for what templates put around messages.
 */
export function promptTokens(request: WithMessages, limits: PromptLimits): number {
  const { contextLength, tokenizer, tokenBounds } = limits;
  const media = messageMedia(request);
  let tokens = answerPreamble + (hasTools(request) ? toolsPreamble : 0);
  for (const item of media) tokens += mediaTokens(request.body, item, tokenBounds);
  if (tokens >= contextLength) return contextLength;
  const texts = promptTexts(request, media);
  for (const text of tokenizer === undefined ? texts : []) {
    tokens += textTokens(text, true);
    if (tokens >= contextLength) return contextLength;
  }
  if (tokenizer !== undefined) tokens += countTexts(texts, tokenizer, contextLength - tokens);
  return Math.min(tokens, contextLength);
}

function promptTexts({ body, members }: WithMessages, media: readonly Media[]): Uint8Array[] {
  const texts: Uint8Array[] = [];
  for (const { name, start, end } of members) {
    const first = body[start];
    if (first !== quote && first !== openBracket && first !== openBrace) continue;
    if (name === "messages") texts.push(...textsBetween(body.subarray(0, end), media, start));
    else if (!besidePrompt.has(name)) texts.push(body.subarray(start, end));
  }
  return texts;
}

function hasTools({ members }: WithMessages): boolean {
  return memberOf(members, "tools") !== undefined || memberOf(members, "functions") !== undefined;
}

function countTexts(texts: readonly Uint8Array[], tokenizer: Tokenizer, most: number): number {
  const text = texts.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()).join("");
  return tokenizer.count(text, most) + mostMissed(text);
}
