import type { TokenCounts } from "./token-counts.js";

/** A whole response as its client gets it, and what it counts. */
export interface ModelAnswer {
  /** Text where that is at hand: it leaves faster. */
  readonly body: Uint8Array | string;
  readonly tokens: TokenCounts;
  /** The upstream reported no usage: `tokens` are estimated. */
  readonly estimated: boolean;
}
