import type { UsageCounts } from "./usage-counts.js";

/** What has arrived of a response so far. */
export interface Progress extends ResponseMark {
  /** The upstream's usage if it has reported one, else an estimate. It includes the prompt. */
  readonly tokens: UsageCounts;
  /** What is charged instead where the client leaves before the end; absent: `tokens`. */
  readonly chargedIfLeft?: UsageCounts;
  /** Whether the upstream has not reported usage yet. */
  readonly estimated: boolean;
  /** Whether the upstream has reported the usage of the whole response. */
  readonly isCounted: boolean;
  /** Whether all of the response has come, as far as is known, but for its usage and the end of the stream. */
  readonly awaitsUsage: boolean;
  /** What the upstream has reported that no price is for; absent: nothing. */
  readonly unpriced?: string | undefined;
  /** Whether output has come. */
  readonly hasOutput: boolean;
  /** Whether the response shows that the model reasons. */
  readonly reasons: boolean;
}

/** The progress of a stream. */
export interface StreamProgress extends Progress {
  /** Set by what writes the client's stream. */
  responseId: string | undefined;
  finishReason: string | undefined;
  /** A rough guess at the output tokens received, which costs nothing to read. */
  readonly seenOutput: number;
  /** Whether the response itself is complete. Then the way in which the connection ends does not matter. */
  readonly isComplete: boolean;
  /** Whether the upstream has ended the stream. Nothing follows. */
  readonly isDone: boolean;
}

/** A whole response as its client gets it, and its tokens. */
export interface ModelResponse extends ResponseMark {
  /** Text if there is one already: it is faster to send. */
  readonly body: Uint8Array | string;
  /** Default: `application/json`. */
  readonly contentType?: string | undefined;
  readonly tokens: UsageCounts;
  /** Whether `tokens` are estimated, or a part of them, since the upstream did not report it. */
  readonly estimated: boolean;
  /** What the upstream has reported that no price is for; absent: nothing. */
  readonly unpriced?: string | undefined;
}

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
