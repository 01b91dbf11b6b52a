import type { ResponseMark } from "./response-mark.js";
import type { UsageCounts } from "./usage-counts.js";

/** What has arrived of a response so far. */
export interface Progress extends ResponseMark {
  /** The upstream's usage if it has reported one, else an estimate. It includes the prompt. */
  readonly tokens: UsageCounts;
  /** What is charged instead where the client leaves before the end; absent: `tokens`. */
  readonly left?: UsageCounts;
  /** Whether the upstream has not reported usage yet. */
  readonly estimated: boolean;
  /** Whether the upstream has reported the usage of the whole response. */
  readonly isCounted: boolean;
  /** Whether all of the response has come, as far as is known, but for its usage and the end of the stream. */
  readonly awaitsUsage: boolean;
  /** What the upstream has reported that no price is for; absent: nothing. */
  readonly unpriced?: string | undefined;
  /** Whether the client has received output. */
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
