export const modelTypes = ["chat", "embedding", "completion", "moderation"] as const;

/** What a model is for. */
export type ModelType = (typeof modelTypes)[number];
