import { Buffer } from "node:buffer";
import { textTokens } from "../../tokens/text-tokens.js";
import type { Tokenizer } from "../../tokens/tokenizer.js";
import { elementsOf, memberOf, membersOf } from "../../wire/json-members.js";
import { decodeOwnPayload } from "../../wire/own-payload.js";
import { countedTokensOf, leastTokensOf } from "../shared/context-fit.js";
import { type Media, unreadValues } from "../shared/message-media.js";
import type { Span } from "../shared/message-outline.js";
import {
  jsonInstructionTokens,
  mostPromptTokens,
  type PromptCount,
  type PromptLimits,
  textFunctionTokens,
  toolsPreamble,
} from "../shared/prompt-tokens.js";
import { type InputItem, isPaired } from "./input-outline.js";
import { ownThoughts } from "./own-items.js";
import { inputMedia } from "./responses-capabilities.js";
import type { ResponsesRequest } from "./responses-request.js";
import type { ToolSpan } from "./tool-kinds.js";

/** Tokens that chat templates add around a text that is a whole message, such as `instructions`. */
const messagePreamble = 16;

/** Tokens of the text that a translation writes for a missing output. */
const noteTokens = 16;

/** Tokens by which a translation describes a tool that has no description of its own. */
const clientTools: ReadonlySet<unknown> = new Set(["shell", "local_shell", "apply_patch"]);
const clientToolTokens = 500;

/** Members that are not part of the prompt. */
const besidePrompt: ReadonlySet<string> = new Set([
  "model",
  "stream_options",
  "service_tier",
  "metadata",
  "user",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
  "previous_response_id",
  "include",
  "truncation",
  "client_metadata",
]);

/**
 * The most tokens that the prompt of a response can have, at a Responses server or translated into a chat. It is
 * counted like the prompt of a chat. References must be replaced before: see `expandInput`.
 */
export function responsesPromptTokens(request: ResponsesRequest, limits: PromptLimits): PromptCount {
  const { body, skips, members } = request;
  const { media, unread, tokens } = inputParts(request);
  const added =
    tokens +
    toolListTokens(request) +
    textsAlone(request) * messagePreamble +
    formatsOf(request).reduce(
      (sum, format) => sum + jsonInstructionTokens(body, format, limits.translatesToMessages === true),
      0,
    );
  const rewritten = rewrittenParts(request);
  return mostPromptTokens(
    { body, skips, members, member: "input", media, unread, rewritten, beside: besidePrompt, added },
    limits,
  );
}

/** What of the input is no text. */
interface InputParts {
  readonly media: readonly Media[];
  /** In their order. */
  readonly unread: readonly Span[];
  /** Those of what is decoded, and of what a translation adds. */
  readonly tokens: number;
}

/** Of an input that is a text. */
const textAlone: InputParts = { media: [], unread: [], tokens: 0 };

function inputParts(request: ResponsesRequest): InputParts {
  if (request.items === undefined) return textAlone;
  const media = inputMedia(request);
  const thoughts = thoughtsOf(request);
  const unread = [...unreadValues(media), ...thoughts].sort((one, other) => one.start - other.start);
  const decoded = thoughts.reduce((sum, { tokens }) => sum + tokens, 0);
  return { media, unread, tokens: decoded + builtInCalls(request.items) * noteTokens };
}

function toolListTokens({ tools }: ResponsesRequest): number {
  if (tools.length === 0) return 0;
  return tools.reduce((sum, tool) => sum + toolTokens(tool), toolsPreamble);
}

const noSpans: readonly Span[] = [];

/** What chat templates write again. */
function rewrittenParts(request: ResponsesRequest): readonly Span[] {
  const { tools } = request;
  const formats = textsOf(request);
  if (tools.length === 0) return formats;
  return [...formats, ...tools.filter(({ type }) => type !== "namespace")];
}

/** Reasoning that only the gateway can read, with the tokens that it has after decoding. */
function thoughtsOf(request: ResponsesRequest): (Span & { readonly tokens: number })[] {
  return ownThoughts(request).flatMap(({ encrypted }) => {
    if (encrypted === undefined) return [];
    const { start, end } = encrypted;
    const text = Buffer.from(request.body.subarray(start + 1, end - 1)).toString("latin1");
    return [{ start, end, tokens: textTokens(decodeOwnPayload(text), true) }];
  });
}

/**
 * Extra tokens of a tool in a translation: the namespace in each name, and the explanation of tools that take plain
 * text.
 */
function toolTokens({ type, name, held }: ToolSpan): number {
  if (type === "custom") return textFunctionTokens;
  if (clientTools.has(type)) return clientToolTokens;
  return name === undefined ? 0 : held * (name.end - name.start);
}

/** Of `text` more members than there are. */
const mostMembers = 16;

/** What the answer's form is to be: one of them is in force. */
function formatsOf(request: ResponsesRequest): readonly Span[] {
  const { body, skips } = request;
  return textsOf(request).flatMap((text) => {
    if (body[text.start] !== 0x7b) return noSpans;
    const own = membersOf(body, text.start, mostMembers, skips);
    // Whatever stands in too many members may be one.
    return own.length > mostMembers ? text : (memberOf(own, "format") ?? noSpans);
  });
}

/** The member that says it, and what updates in the input say. */
function textsOf({ members, items }: ResponsesRequest): readonly Span[] {
  const text = memberOf(members, "text");
  const updates = items?.some((item) => item.text !== undefined)
    ? items.flatMap((item) => item.text ?? noSpans)
    : noSpans;
  return text === undefined ? updates : [text, ...updates];
}

function textsAlone({ body, members }: ResponsesRequest): number {
  let texts = 0;
  for (const { name, start } of members) {
    if ((name === "input" || name === "instructions") && body[start] === 0x22) texts++;
  }
  return texts;
}

/** Calls may be shorter than what is said for their outputs, where they need no id. */
function builtInCalls(items: readonly InputItem[]): number {
  return items.filter(({ type }) => type.endsWith("_call") && !isPaired(type)).length;
}

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
function* inputTexts({ body, members, skips, items }: ResponsesRequest): Iterable<Span> {
  for (const name of ["instructions", "input"]) {
    const text = memberOf(members, name);
    if (text !== undefined && body[text.start] === 0x22) yield inside(text);
  }
  for (const { contents } of items ?? []) {
    for (const content of contents) {
      if (body[content.start] === 0x22) yield inside(content);
      if (body[content.start] !== 0x5b) continue;
      for (const part of elementsOf(body, content.start, skips)) {
        const text = body[part] === 0x7b ? memberOf(membersOf(body, part, undefined, skips), "text") : undefined;
        if (text !== undefined && body[text.start] === 0x22) yield inside(text);
      }
    }
  }
}

function inside({ start, end }: Span): Span {
  return { start: start + 1, end: end - 1 };
}
