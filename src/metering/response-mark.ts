/** What a response is called, and why it ended, as its client read it. */
export interface ResponseMark {
  /** `undefined`: it has none, as embeddings. */
  readonly responseId: string | undefined;
  /**
   * Of the first choice, in the words of chat completions, whatever the protocol: `stop`, `length`, `tool_calls` or
   * `content_filter`; another word where a server of chat completions uses one. `undefined`: it has not ended.
   */
  readonly finishReason: string | undefined;
}
