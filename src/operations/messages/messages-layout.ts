import {
  besidePrompt,
  conversationMember,
  type PromptLayout,
  type PromptMember,
  schemaMember,
  settings,
  systemMember,
} from "../prompt-texts/prompt-layout.js";

/** `POST /v1/messages` */
export const messagesLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings,
    ["messages", conversationMember],
    ["system", systemMember],
    ["tools", schemaMember],
    ["output_format", schemaMember],
    ["output_config", schemaMember],
    // How what came before is summed up.
    ["context_management", systemMember],
    ["compaction", systemMember],
    ["mcp_servers", systemMember],
  ]),
  roleOf: (role) => role ?? "user",
  isToolResult: (type) => type.endsWith("tool_result"),
};
