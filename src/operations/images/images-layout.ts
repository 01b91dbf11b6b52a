import { besidePrompt, never, type PromptLayout, type PromptMember } from "../prompt-texts/prompt-layout.js";

const settings = [
  ...["size", "quality", "partial_images", "response_format", "output_format", "output_compression", "background"],
  ...["moderation", "style", "guidance", "guidance_scale", "cfg_scale"],
];

/** `POST /v1/images/generations` */
export const imagesLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings.map((name): [string, PromptMember] => [name, { rule: "settings", role: "system" }]),
    ["prompt", { rule: "prompt", role: "user" }],
    ["negative_prompt", { rule: "prompt", role: "user" }],
  ]),
  roleOf: () => "user",
  isToolResult: never,
};
