import type { RateUse } from "../rate-limit.js";

/** A call that corrects no rate. */
export const noUses: readonly RateUse[] = Object.freeze([]);
