import type { TextRule } from "./prompt-layout.js";

/** Strings of messages that say what something is, refer to something, or are files as text. */
const noTexts: ReadonlySet<string> = new Set([
  ...[
    "type",
    "role",
    "id",
    "name",
    "status",
    "phase",
    "object",
    "namespace",
    "version",
    "detail",
    "format",
    "media_type",
    "ttl",
  ],
  ...["call_id", "tool_call_id", "tool_use_id", "item_id", "file_id", "container_id", "approval_request_id"],
  ...["server_label", "url", "image_url", "video_url", "audio_url", "file_url"],
  ...["image", "video", "audio", "image_embeds", "file_data", "b64_json"],
  ...["signature", "encrypted_content", "encrypted_index", "encrypted_stdout"],
]);

/**
 * Whether a string is a text.
 * @param name - of the member that it is, or whose list it stands in; `""` where there is none.
 */
export function isPromptText(rule: TextRule, name: string): boolean {
  switch (rule) {
    case "prompt":
      return !noTexts.has(name);
    case "values":
      return true;
    case "descriptions":
      return name === "description";
    default:
      return false;
  }
}

/** The rule of an object or a list. @param name - of the member that it is, or whose list it stands in. */
export function ruleWithin(rule: TextRule, name: string): TextRule {
  if (rule !== "prompt") return rule;
  if (name === "input" || name === "arguments" || name === "variables") return "values";
  if (name === "tools") return "descriptions";
  return name === "cache_control" ? "none" : "prompt";
}

/** Whether a text of a message is a file after all, by the `type` beside it. */
export function isFile(rule: TextRule, name: string, type: string | undefined): boolean {
  if (rule !== "prompt") return false;
  if (name === "data") return type !== "text";
  return name === "result" && type === "image_generation_call";
}
