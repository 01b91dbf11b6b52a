/** Four ascending epoch milliseconds around the caller's now: the candidate boundaries of a calendar window. */
export type Bounds = readonly [number, number, number, number];

/** The end of an instance that has none. */
export const neverEnds = Number.MAX_SAFE_INTEGER - 1;

/** The bounds of what never ends. */
export const totalBounds: Bounds = Object.freeze([0, 0, neverEnds, Number.MAX_SAFE_INTEGER]);
