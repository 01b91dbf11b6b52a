/** What a client can call, and a gateway at an upstream: the path behind `/v1/`. */
export type OperationName = "chat/completions" | "embeddings" | "responses" | "messages";
