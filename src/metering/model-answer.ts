import type { ResponseMark } from "./response-mark.js";
import type { TokenCounts } from "./token-counts.js";

/** A whole response as its client gets it, and its tokens. */
export interface ModelAnswer extends ResponseMark {
  /** Text if there is one already: it is faster to send. */
  readonly body: Uint8Array | string;
  readonly tokens: TokenCounts;
  /** Whether `tokens` are estimated, since the upstream reported no usage. */
  readonly estimated: boolean;
}
