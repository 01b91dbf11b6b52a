import {
  besidePrompt,
  conversationMember,
  never,
  type PromptLayout,
  type PromptMember,
  schemaMember,
  settings,
} from "../prompt-texts/prompt-layout.js";

/** `POST /v1/chat/completions` */
export const chatLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings,
    ["messages", conversationMember],
    ["tools", schemaMember],
    ["functions", schemaMember],
    ["response_format", schemaMember],
    ["prediction", { rule: "prompt", role: "assistant" }],
    // Some servers put these before the messages.
    ["documents", { rule: "values", role: "user" }],
  ]),
  roleOf: (role) => role ?? "user",
  isToolResult: never,
};
