import type { Buffer } from "node:buffer";
import { runtime } from "../../runtime/this-runtime.js";
import { asBuffer } from "../../wire/bytes.js";

/**
 * Which strings of a part of a request are texts.
 * - `prompt`: all of messages but ids, URLs and files.
 * - `values`: all, as in arguments that a model has written, and in members that nobody knows.
 * - `schema`: all of tools and JSON schemas but names and the words of the format.
 * - `settings`: those that are no single word, as no setting is.
 * - `none`: no string.
 *
 * What is no text by its name is one all the same where it is no word: see {@link isWord}.
 */
export type TextRule = "prompt" | "values" | "schema" | "settings" | "none";

/** A member of a request. */
export interface PromptMember {
  readonly rule: TextRule;
  /** The role of its texts, unless it is a list of messages. */
  readonly role: string;
  /** Its elements are messages, or items of a conversation. */
  readonly isConversation?: boolean;
}

/** Where the texts of a prompt stand in the requests of one operation. */
export interface PromptLayout {
  /** Members by name. Of one that is not here, every string is a text: a server may show it to its model. */
  readonly members: ReadonlyMap<string, PromptMember>;
  /** The role of a message or item, by its own members `role` and `type`; what is no string is `undefined`. */
  roleOf(role: string | undefined, type: string | undefined): string;
  /** Whether a content part holds the result of a tool, by its `type`. */
  isToolResult(type: string): boolean;
}

/** Of a request's member that nobody knows. */
export const unknownMember: PromptMember = { rule: "values", role: "system" };

export const schemaMember: PromptMember = { rule: "schema", role: "system" };
export const systemMember: PromptMember = { rule: "prompt", role: "system" };
export const conversationMember: PromptMember = { rule: "prompt", role: "user", isConversation: true };

/** The same for all of these. */
export function promptMembers(names: readonly string[], rule: TextRule, role = "system"): [string, PromptMember][] {
  return names.map((name) => [name, { rule, role }]);
}

/** Members of all protocols that no model reads. */
export const besidePrompt = promptMembers(
  [
    ...["model", "stream", "stream_options", "store", "metadata", "client_metadata", "user", "safety_identifier"],
    ...["service_tier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "encoding_format"],
    ...["stop", "stop_sequences", "logit_bias", "modalities", "previous_response_id", "include", "truncation"],
    ...["max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "n", "seed"],
  ],
  "none",
);

/** Members of all protocols whose values are words of the protocol, or names that the request has elsewhere. */
export const settings = promptMembers(
  [
    ...["reasoning_effort", "verbosity", "reasoning", "thinking", "effort", "tool_choice", "function_call", "audio"],
    ...["conversation", "container", "betas", "speed", "inference_geo", "cache_control", "thread", "diagnostics"],
    ...["fallbacks", "fallback_credit_token", "billing_policy", "user_profile_id", "anthropic_version"],
  ],
  "settings",
);

export const never = () => false;

/** What clients keep of a model's thoughts, decoded. */
export const thoughtsLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ["origin", { rule: "none", role: "assistant" }],
    ...promptMembers(
      ["text", "reasoning", "reasoning_content", "details", "reasoning_details", "extra", "extra_content"],
      "prompt",
      "assistant",
    ),
  ]),
  roleOf: () => "assistant",
  isToolResult: never,
};

/** Strings of messages that say what something is, or refer to something. */
const labels: ReadonlySet<string> = new Set([
  ...["type", "role", "id", "name", "status", "phase", "object", "namespace", "version", "detail", "format"],
  ...["media_type", "ttl", "execution", "call_id", "tool_call_id", "tool_use_id", "item_id", "file_id"],
  ...["container_id", "approval_request_id", "previous_message_id", "server_label", "model"],
  ...["url", "image_url", "video_url", "audio_url", "file_url", "authorization_token", "thought_signature"],
  ...["signature", "encrypted_content", "encrypted_index", "encrypted_stdout"],
]);

/** Strings of tools and JSON schemas that are names, or words of the format. */
const schemaLabels: ReadonlySet<string> = new Set([
  ...["type", "name", "format", "required", "effort", "verbosity", "ttl", "execution", "syntax", "model"],
  ...["$ref", "$id", "$schema", "$anchor", "$dynamicRef", "$dynamicAnchor", "contentEncoding", "contentMediaType"],
  ...["server_label", "server_url", "connector_id", "authorization", "file_id", "container", "allowed_callers"],
]);

/** Files as text. */
const files: ReadonlySet<string> = new Set(["image", "video", "audio", "image_embeds", "file_data", "b64_json"]);

/** Where clients send back what the gateway gave them to keep. */
const kept: ReadonlySet<string> = new Set(["signature", "encrypted_content"]);

/**
 * What a string is. `label`: no text if it is a word. `file`: no text, unless the `type` beside it says so. `kept`: as a
 * label, or what the gateway has signed.
 */
export type StringKind = "text" | "label" | "file" | "kept" | "none";

/** @param name - of the member that it is, or whose list it stands in; `""` where there is none. */
export function kindOf(rule: TextRule, name: string): StringKind {
  switch (rule) {
    case "prompt":
      if (kept.has(name)) return "kept";
      if (labels.has(name)) return "label";
      return files.has(name) || name === "data" || name === "result" ? "file" : "text";
    case "schema":
      return schemaLabels.has(name) ? "label" : "text";
    case "settings":
      return "label";
    case "none":
      return "none";
    default:
      return "text";
  }
}

/** The rule of an object or a list. @param name - of the member that it is, or whose list it stands in. */
export function ruleWithin(rule: TextRule, name: string): TextRule {
  if (name === "cache_control" && (rule === "prompt" || rule === "schema")) return "settings";
  if (rule !== "prompt") return rule;
  if (name === "input" || name === "arguments" || name === "variables") return "values";
  return name === "tools" || name === "definition" ? "schema" : "prompt";
}

/** Whether what could be a file is a text, by the `type` beside it. */
export function isTextByType(name: string, type: string | undefined): boolean {
  if (name === "data") return type === "text";
  return name === "result" && type !== "image_generation_call";
}

const shortLength = 256;

/**
 * Whether a string of JSON is nothing but an id, a URL or a word of a format: ASCII without white space. A prompt that
 * stands where such a word should, and that a server might show to its model, is none.
 * @param start - behind the quote. @param end - of the string, without the quote.
 */
export function isWord(body: Uint8Array, start: number, end: number): boolean {
  if (end - start > shortLength) {
    const text = asBuffer(body).subarray(start, end);
    return runtime.isAscii(text) && !text.includes(0x20) && (!text.includes(0x5c) || isEscapedWord(text));
  }
  for (let at = start; at < end; at++) {
    const byte = body[at] as number;
    if (byte === 0x5c) return isEscapedWord(asBuffer(body).subarray(start, end));
    if (byte <= 0x20 || byte >= 0x7f) return false;
  }
  return true;
}

/** Slashes and others may be written as escapes. */
function isEscapedWord(text: Buffer): boolean {
  return /^(?:[!-[\]-~]|\\[\\/"]|\\u00[2-7][0-9a-f])*$/i.test(text.toString("latin1")) && !text.includes("\\u0020");
}

const identifier = /^[A-Za-z_$][\w$]*$/;

/** The path of a member, as in JavaScript: `a.b`, or `a["b c"]` where the name is no identifier. */
export function memberPath(path: string, name: string): string {
  if (!identifier.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === "" ? name : `${path}.${name}`;
}

/** The layout of requests without messages. @param members - those that such requests have beside what all have. */
export function layoutOf(members: readonly [string, PromptMember][]): PromptLayout {
  return { members: new Map([...besidePrompt, ...members]), roleOf: () => "user", isToolResult: never };
}

/** Of requests whose only prompt is their `input`. */
export const inputLayout: PromptLayout = layoutOf(promptMembers(["input"], "prompt", "user"));
