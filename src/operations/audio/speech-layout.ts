import { besidePrompt, never, type PromptLayout, type PromptMember } from "../prompt-texts/prompt-layout.js";

const settings = ["voice", "response_format", "stream_format", "speed", "language", "lang_code", "sample_rate"];

/** `POST /v1/audio/speech` */
export const speechLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings.map((name): [string, PromptMember] => [name, { rule: "settings", role: "system" }]),
    ["input", { rule: "prompt", role: "user" }],
    ["instructions", { rule: "prompt", role: "system" }],
    ["ref_audio", { rule: "none", role: "user" }],
  ]),
  roleOf: () => "user",
  isToolResult: never,
};
