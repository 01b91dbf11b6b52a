/** What can be asked of a model: the path behind `/v1/`, for clients as for upstreams. */
export type OperationName = "chat/completions" | "embeddings" | "responses" | "messages";
