import { besidePrompt, never, type PromptLayout, type PromptMember } from "../prompt-texts/prompt-layout.js";

const settings = [
  ...["size", "quality", "partial_images", "response_format", "output_format", "output_compression", "background"],
  ...["moderation", "style", "guidance", "guidance_scale", "cfg_scale", "input_fidelity", "strength"],
];

/** `POST /v1/images/generations` and `/v1/images/edits` */
export const imagesLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings.map((name): [string, PromptMember] => [name, { rule: "settings", role: "system" }]),
    ...["image", "images", "mask"].map((name): [string, PromptMember] => [name, { rule: "none", role: "user" }]),
    ["prompt", { rule: "prompt", role: "user" }],
    ["negative_prompt", { rule: "prompt", role: "user" }],
  ]),
  roleOf: () => "user",
  isToolResult: never,
};
