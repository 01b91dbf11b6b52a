import { besidePrompt, never, type PromptLayout, type PromptMember } from "../prompt-texts/prompt-layout.js";

/** `POST /v1/rerank` */
export const rerankLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ["query", { rule: "prompt", role: "user" }],
    ["documents", { rule: "prompt", role: "user" }],
    ["rank_fields", { rule: "none", role: "user" }],
    ["truncate", { rule: "none", role: "user" }],
  ]),
  roleOf: () => "user",
  isToolResult: never,
};
