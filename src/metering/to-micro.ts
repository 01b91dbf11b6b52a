import { toDecimal } from "./decimal.js";
import type { Micro } from "./micro.js";

const microDecimals = 6;

/**
 * Converts credits, as plans state them, to micro-credits; what is finer than a micro-credit is cut off.
 *
 * @throws RangeError when the number is negative, not finite, or too large to count (about 9 billion credits).
 */
export function toMicro(credits: number): Micro {
  const { digits, decimals } = toDecimal(credits, "An amount of credits");
  const micro = (digits * 10n ** BigInt(microDecimals)) / 10n ** BigInt(decimals);
  if (micro > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`An amount of credits must be at most 9007199254, not ${credits}.`);
  }
  return Number(micro);
}
