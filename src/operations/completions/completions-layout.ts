import {
  besidePrompt,
  never,
  type PromptLayout,
  type PromptMember,
  schemaMember,
} from "../prompt-texts/prompt-layout.js";

/** `POST /v1/completions` */
export const completionsLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ["prompt", { rule: "prompt", role: "user" }],
    ["suffix", { rule: "prompt", role: "user" }],
    ["response_format", schemaMember],
  ]),
  roleOf: () => "user",
  isToolResult: never,
};
