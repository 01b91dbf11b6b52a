import type { ResponseMark } from "./response-mark.js";
import type { UsageCounts } from "./usage-counts.js";

/** A whole response as its client gets it, and its tokens. */
export interface ModelAnswer extends ResponseMark {
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
