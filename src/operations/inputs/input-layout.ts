import { besidePrompt, never, type PromptLayout, type PromptMember } from "../prompt-texts/prompt-layout.js";

/** Of requests whose only prompt is their `input`. */
export const inputLayout: PromptLayout = {
  members: new Map<string, PromptMember>([...besidePrompt, ["input", { rule: "prompt", role: "user" }]]),
  roleOf: () => "user",
  isToolResult: never,
};
