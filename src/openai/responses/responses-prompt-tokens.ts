import { Buffer } from "node:buffer";
import { textTokens } from "../../tokens/text-tokens.js";
import { memberOf } from "../../wire/json-members.js";
import type { Span } from "../chat/message-outline.js";
import { mostPromptTokens, type PromptLimits, toolsPreamble } from "../chat/prompt-tokens.js";
import { inputMedia } from "./input-media.js";
import { isPaired } from "./input-outline.js";
import { ownThoughts } from "./own-thoughts.js";
import { decodeReasoning } from "./reasoning-payload.js";
import type { ResponsesRequest } from "./responses-request.js";
import type { ToolSpan } from "./tool-kinds.js";

/** What templates put around a text that stands alone, as `instructions` and `input` may. */
const messagePreamble = 16;

/** What a translation says for an output that is not there. */
const noteTokens = 16;

/** What a translation says of a tool that takes a text: how to send it. */
const wrapperTokens = 160;

/** Members that say how to answer. */
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
 * The most tokens that the prompt of a response can have, at a server that speaks this API and at one that gets it as a chat:
 * counted as the prompt of a chat is. What the request refers to must be in its place already: see `expandInput`.
 */
export function responsesPromptTokens(request: ResponsesRequest, limits: PromptLimits): number {
  const { body, leaps, members, tools } = request;
  const media = inputMedia(request);
  const thoughts = thoughtsOf(request);
  const format = memberOf(members, "text");
  const added =
    (tools.length > 0 ? toolsPreamble : 0) +
    tools.reduce((sum, tool) => sum + toolTokens(tool), 0) +
    thoughts.reduce((sum, { tokens }) => sum + tokens, 0) +
    textsAlone(request) * messagePreamble +
    builtInCalls(request) * noteTokens;
  const unread = [...media.flatMap(({ values }) => values), ...thoughts];
  const prompt = {
    body,
    leaps,
    members,
    member: "input",
    media,
    unread: unread.sort((one, other) => one.start - other.start),
    rewritten: [...(format === undefined ? [] : [format]), ...tools.filter(({ type }) => type !== "namespace")],
    beside: besidePrompt,
    added,
  };
  return mostPromptTokens(prompt, limits);
}

/** Thoughts that only the gateway can read, with the tokens that they have when it has. */
function thoughtsOf(request: ResponsesRequest): (Span & { readonly tokens: number })[] {
  return ownThoughts(request).flatMap(({ encrypted }) => {
    if (encrypted === undefined) return [];
    const { start, end } = encrypted;
    const text = Buffer.from(request.body.subarray(start + 1, end - 1)).toString("latin1");
    return [{ start, end, tokens: textTokens(Buffer.from(decodeReasoning(text)), true) }];
  });
}

/** A translation writes the name of a namespace into those of its tools, and explains those that take a text. */
function toolTokens({ type, name, held }: ToolSpan): number {
  if (type === "custom") return wrapperTokens;
  return name === undefined ? 0 : held * (name.end - name.start);
}

function textsAlone({ body, members }: ResponsesRequest): number {
  return members.filter(({ name, start }) => (name === "input" || name === "instructions") && body[start] === 0x22)
    .length;
}

/** Calls without an output get one, and images of a tool's a message of their own. */

/** Calls may be shorter than what is said for their outputs, where they need no id. */
function builtInCalls({ items }: ResponsesRequest): number {
  return (items ?? []).filter(({ type }) => type.endsWith("_call") && !isPaired(type)).length;
}
