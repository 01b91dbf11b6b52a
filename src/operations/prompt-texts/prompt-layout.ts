/**
 * Which strings of a part of a request are texts.
 * - `prompt`: all of messages but ids, URLs and files.
 * - `values`: all, as in arguments that a model has written, and in members that nobody knows.
 * - `schema`: all of tools and JSON schemas but names and the words of the format.
 * - `settings`: those that are no single word, as no setting is.
 * - `none`: no string.
 *
 * What is no text by its name is one all the same where it is no word: see `isWord` of `text-rules.ts`.
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

function all(names: readonly string[], rule: TextRule): [string, PromptMember][] {
  return names.map((name) => [name, { rule, role: "system" }]);
}

/** Members of all protocols that no model reads. */
export const besidePrompt = all(
  [
    ...["model", "stream", "stream_options", "store", "metadata", "client_metadata", "user", "safety_identifier"],
    ...["service_tier", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "encoding_format"],
    ...["stop", "stop_sequences", "logit_bias", "modalities", "previous_response_id", "include", "truncation"],
    ...["max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "n", "seed"],
  ],
  "none",
);

/** Members of all protocols whose values are words of the protocol, or names that the request has elsewhere. */
export const settings = all(
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
    ...["text", "reasoning", "reasoning_content", "details", "reasoning_details", "extra", "extra_content"].map(
      (name): [string, PromptMember] => [name, { rule: "prompt", role: "assistant" }],
    ),
  ]),
  roleOf: () => "assistant",
  isToolResult: never,
};
