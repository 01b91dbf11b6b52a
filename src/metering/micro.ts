/**
 * Micro-credits: an integer count, 1 credit = 1,000,000. Always a safe integer
 * (`Number.isSafeInteger`), so sums are exact.
 */
export type Micro = number;
