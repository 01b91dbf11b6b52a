import type { Buffer } from "node:buffer";
import { runtime } from "../../runtime/this-runtime.js";
import { asBuffer } from "../../wire/as-buffer.js";
import type { TextRule } from "./prompt-layout.js";

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
