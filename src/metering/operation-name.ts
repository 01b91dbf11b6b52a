/** What a client can call, and a gateway at an upstream: the path behind `/v1/`. */
export type OperationName = "chat/completions" | "embeddings" | "responses" | "messages";

const all: Readonly<Record<OperationName, true>> = {
  "chat/completions": true,
  embeddings: true,
  responses: true,
  messages: true,
};

export const operationNames = Object.keys(all) as readonly OperationName[];
