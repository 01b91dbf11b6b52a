/** What clients can call, and a gateway at an upstream: the paths behind `/v1/`. `protocols/operations.ts` has one for each. */
export const operationNames = [
  "chat/completions",
  "embeddings",
  "responses",
  "messages",
  "completions",
  "moderations",
  "rerank",
  "images/generations",
  "images/edits",
  "audio/speech",
  "audio/transcriptions",
  "audio/translations",
] as const;

/** What a client can call, and a gateway at an upstream: the path behind `/v1/`. */
export type OperationName = (typeof operationNames)[number];
