import {
  besidePrompt,
  conversationMember,
  never,
  type PromptLayout,
  type PromptMember,
  schemaMember,
  settings,
  systemMember,
} from "../prompt-texts/prompt-layout.js";

/** `POST /v1/responses`: items that are no messages are a model's own, or results of its tools. */
export const responsesLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings,
    ["input", conversationMember],
    ["instructions", systemMember],
    ["tools", schemaMember],
    ["text", schemaMember],
    ["prompt", { rule: "prompt", role: "user" }],
    ["context_management", systemMember],
  ]),
  roleOf: (role, type) => {
    if (type === undefined || type === "message") return role ?? "user";
    return type.endsWith("_output") ? "tool" : "assistant";
  },
  isToolResult: never,
};
