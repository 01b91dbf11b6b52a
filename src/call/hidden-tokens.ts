/** Tokens per second that are presumed of a model whose own rate is not known. Few are faster. */
const presumedRate = 200;

/** Less time than this, in milliseconds, in which output came tells nothing of a model's rate. */
const leastFlowMs = 1000;

/** How an answer was generated, up to the moment at which its client left. */
export interface Generation {
  /** Output that came, in tokens. */
  seen: number;
  /** From the hand-over of the request to the client's departure, in milliseconds. */
  elapsedMs: number;
  /** The part of it in which output came, in milliseconds. */
  flowMs: number;
  /** The most output that the answer can have, in tokens. */
  cap: number;
}

/**
 * An upper estimate of the output that a reasoning model has generated and not shown. A model writes hidden tokens as fast
 * as visible ones: so it is what the model can have written in the time that it had, less what came. Seen and hidden output
 * together stay within the cap.
 */
export function hiddenTokens({ seen, elapsedMs, flowMs, cap }: Generation): number {
  const perMs = flowMs < leastFlowMs ? presumedRate / 1000 : seen / flowMs;
  const written = Math.ceil(Math.max(0, elapsedMs) * perMs);
  return Math.max(0, Math.min(written, cap) - seen);
}
