import { besidePrompt, never, type PromptLayout, type PromptMember } from "../prompt-texts/prompt-layout.js";

/** `POST /v1/embeddings` */
export const embeddingsLayout: PromptLayout = {
  members: new Map<string, PromptMember>([...besidePrompt, ["input", { rule: "prompt", role: "user" }]]),
  roleOf: () => "user",
  isToolResult: never,
};
