export const modelTypes = [
  "chat",
  "embedding",
  "completion",
  "moderation",
  "image",
  "rerank",
  "speech",
  "transcription",
] as const;

/** What a model is for. */
export type ModelType = (typeof modelTypes)[number];

/** Of which models it must be known how many tokens they read at once: the others have no context that is priced. */
export const contextTypes: readonly ModelType[] = ["chat", "embedding", "completion"];

/** Of which models responses are read on after their clients have left: most of what they cost is done by then. */
export const drainedTypes: readonly ModelType[] = ["image"];

/** Models that make or hear sound. */
export const audioTypes: readonly ModelType[] = ["speech", "transcription"];
