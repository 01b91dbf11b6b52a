import type { TokenCounts } from "./token-counts.js";

/** What has come of a response so far. */
export interface Progress {
  /** The upstream's count as far as there is one, else an estimate. The prompt is among them. */
  readonly tokens: TokenCounts;
  /** The upstream has not reported usage. */
  readonly estimated: boolean;
  /** The upstream has reported the usage of the whole response. */
  readonly isCounted: boolean;
  /** The client has got something of the response. */
  readonly hasOutput: boolean;
  /** The response shows that the model reasons. */
  readonly reasons: boolean;
}

/** The same of a response that comes as a stream. */
export interface StreamProgress extends Progress {
  /** Output tokens that have come, an estimate. */
  readonly seenOutput: number;
  /** The response has come to its own end: it does not matter how the connection ends. */
  readonly isComplete: boolean;
  /** The upstream has ended the stream: nothing follows. */
  readonly isDone: boolean;
}
