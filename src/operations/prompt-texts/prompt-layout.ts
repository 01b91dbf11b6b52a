/**
 * Which strings of a part of a request are texts. `prompt`: all but ids, URLs and whatever else a message consists of.
 * `values`: all, as in arguments that a model has written. `descriptions`: those of members named `description`, as in
 * JSON schemas. `none`: no string.
 */
export type TextRule = "prompt" | "values" | "descriptions" | "none";

/** A member of a request that holds texts of the prompt. */
export interface PromptMember {
  readonly rule: TextRule;
  /** The role of its texts, unless it is a list of messages. */
  readonly role: string;
  /** Its elements are messages, or items of a conversation. */
  readonly isConversation?: boolean;
}

/** Where the texts of a prompt stand in the requests of one operation. */
export interface PromptLayout {
  /** By name, the request's members that a model reads. */
  readonly members: ReadonlyMap<string, PromptMember>;
  /** The role of a message or item, by its own members `role` and `type`; what is no string is `undefined`. */
  roleOf(role: string | undefined, type: string | undefined): string;
  /** Whether a content part holds the result of a tool, by its `type`. */
  isToolResult(type: string): boolean;
}

const descriptions: PromptMember = { rule: "descriptions", role: "system" };
const conversation: PromptMember = { rule: "prompt", role: "user", isConversation: true };

const never = () => false;

/** `POST /v1/chat/completions` */
export const chatLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ["messages", conversation],
    ["tools", descriptions],
    ["functions", descriptions],
    ["response_format", descriptions],
    ["prediction", { rule: "prompt", role: "assistant" }],
    // Some servers put these before the messages.
    ["documents", { rule: "values", role: "user" }],
  ]),
  roleOf: (role) => role ?? "user",
  isToolResult: never,
};

/** `POST /v1/responses`: items that are no messages are a model's own, or results of its tools. */
export const responsesLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ["input", conversation],
    ["instructions", { rule: "prompt", role: "system" }],
    ["tools", descriptions],
    ["text", descriptions],
    ["prompt", { rule: "prompt", role: "user" }],
  ]),
  roleOf: (role, type) => {
    if (type === undefined || type === "message") return role ?? "user";
    return type.endsWith("_output") ? "tool" : "assistant";
  },
  isToolResult: never,
};

/** `POST /v1/messages` */
export const messagesLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ["messages", conversation],
    ["system", { rule: "prompt", role: "system" }],
    ["tools", descriptions],
    ["output_format", descriptions],
    ["output_config", descriptions],
  ]),
  roleOf: (role) => role ?? "user",
  isToolResult: (type) => type.endsWith("tool_result"),
};

/** `POST /v1/embeddings` */
export const embeddingsLayout: PromptLayout = {
  members: new Map<string, PromptMember>([["input", { rule: "prompt", role: "user" }]]),
  roleOf: () => "user",
  isToolResult: never,
};
