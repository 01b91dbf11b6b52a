import { Buffer } from "node:buffer";
import { memberOf } from "./json-members.js";
import { mediaTokens } from "./media-tokens.js";
import { messageMedia, textsBetween, type WithMessages } from "./message-media.js";
import { textTokens } from "./text-tokens.js";
import type { ResolvedTokenBounds } from "./token-bounds.js";
import { mostMissed, type Tokenizer } from "./tokenizer.js";

/** What servers tell a model about tools of their own accord: Anthropic's 346 tokens are the most that is known. */
const toolsPreamble = 350;

/** What bounds a prompt, of the model. */
export interface PromptLimits {
  /** No prompt has more tokens. */
  readonly contextLength: number;
  readonly tokenizer: Tokenizer | undefined;
  readonly tokenBounds: ResolvedTokenBounds;
}

/**
 * The most tokens that the prompt of a chat can have: its images, audio and files at their bounds, and all the rest of its
 * JSON as text, in which names and punctuation make up for what templates put around messages.
 */
export function promptTokens(request: WithMessages, limits: PromptLimits): number {
  const { contextLength, tokenizer, tokenBounds } = limits;
  const media = messageMedia(request);
  let tokens = hasTools(request) ? toolsPreamble : 0;
  for (const item of media) tokens += mediaTokens(request.body, item, tokenBounds);
  if (tokens >= contextLength) return contextLength;
  const texts = textsBetween(request.body, media);
  for (const text of tokenizer === undefined ? texts : []) {
    tokens += textTokens(text, true);
    if (tokens >= contextLength) return contextLength;
  }
  if (tokenizer !== undefined) tokens += countTexts(texts, tokenizer, contextLength - tokens);
  return Math.min(tokens, contextLength);
}

function hasTools({ members }: WithMessages): boolean {
  return memberOf(members, "tools") !== undefined || memberOf(members, "functions") !== undefined;
}

function countTexts(texts: readonly Uint8Array[], tokenizer: Tokenizer, most: number): number {
  const text = texts.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()).join("");
  return tokenizer.count(text, most) + mostMissed(text);
}
