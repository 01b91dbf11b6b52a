import { besidePrompt, never, type PromptLayout, type PromptMember } from "../prompt-texts/prompt-layout.js";

const settings = [
  ...["response_format", "timestamp_granularities", "chunking_strategy", "language", "languages", "vad_filter"],
  ...["vad_config", "top_k", "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty"],
];

/** The fields of forms with audio. */
export const transcriptionsLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings.map((name): [string, PromptMember] => [name, { rule: "settings", role: "system" }]),
    ["prompt", { rule: "prompt", role: "user" }],
    ["hotwords", { rule: "prompt", role: "user" }],
    ["keywords", { rule: "prompt", role: "user" }],
    ["known_speaker_references", { rule: "none", role: "user" }],
  ]),
  roleOf: () => "user",
  isToolResult: never,
};
