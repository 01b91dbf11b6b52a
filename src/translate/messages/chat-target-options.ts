/** What is known of a target that speaks chat completions, for requests that are translated for it. */
export interface ChatTargetOptions {
  /** An opaque mark of the target, for the signatures of its thinking. It must tell nothing of the upstream. */
  readonly origin: string;
  /** The model can reason: an effort that the client asks for goes to it. Default: `false`. */
  readonly reasoning?: boolean | undefined;
  /** The name of the output cap. Default: `max_tokens`. */
  readonly capName?: "max_tokens" | "max_completion_tokens" | undefined;
  /**
   * What becomes of a system message in the middle of a conversation: it stays, or its text goes to the user's messages,
   * marked as a reminder, or to the first system message. Default: `system`.
   */
  readonly midSystem?: "system" | "user" | "merge" | undefined;
  /** The server reads `cache_control` of content parts. Default: `false`. */
  readonly cacheControl?: boolean | undefined;
  /** The model takes files as content parts. Default: `false`. */
  readonly files?: boolean | undefined;
  /** The server knows `parallel_tool_calls`. Default: `true`. */
  readonly parallelToolCalls?: boolean | undefined;
  /** The server knows `top_k`. Default: `false`. */
  readonly topK?: boolean | undefined;
  /** The model needs the thinking of earlier turns, also of other models. Default: `false`. */
  readonly replayReasoning?: boolean | undefined;
}
