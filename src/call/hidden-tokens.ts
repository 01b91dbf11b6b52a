/** Tokens per second assumed for a model whose rate is unknown. Few models are faster. */
const presumedRate = 200;

/** Output over less time than this, in milliseconds, is too little to compute a rate from. */
const leastFlowMs = 1000;

/** How a response was generated, until its client left. */
export interface Generation {
  /** Output received, in tokens. */
  seen: number;
  /** Time from sending the request until the client left, in milliseconds. */
  elapsedMs: number;
  /** The part of that time in which output arrived, in milliseconds. */
  flowMs: number;
  /** The most output that the response can have, in tokens. */
  cap: number;
}

/**
 * An upper estimate of the reasoning tokens that a model has generated but not shown. It assumes that a model writes
 * hidden tokens as fast as visible ones. The estimate is what the model can have written in the elapsed time, less the
 * visible output. Both together stay within the cap.
 */
export function hiddenTokens({ seen, elapsedMs, flowMs, cap }: Generation): number {
  const perMs = flowMs < leastFlowMs ? presumedRate / 1000 : seen / flowMs;
  const written = Math.ceil(Math.max(0, elapsedMs) * perMs);
  return Math.max(0, Math.min(written, cap) - seen);
}
