/**
 * Micro-credits: an integer count, 1 credit = 1,000,000. Always a safe integer
 * (`Number.isSafeInteger`), so sums are exact.
 */
export type Micro = number;

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

/** A non-negative number as written in decimal: `digits / 10 ** decimals`, exactly. */
export interface Decimal {
  readonly digits: bigint;
  readonly decimals: number;
}

/**
 * Reads a number as the decimal that a person wrote: 0.1 is one tenth, not the binary fraction nearest to it.
 *
 * @param what - names the value in the error.
 * @throws RangeError when it is negative, infinite or not a number.
 */
export function toDecimal(value: number, what: string): Decimal {
  const match = value >= 0 ? /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) : null;
  if (!match) throw new RangeError(`${what} must be a finite number of at least 0, not ${value}.`);
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const digits = BigInt(whole + fraction);
  const decimals = fraction.length - Number(exponent);
  return decimals >= 0 ? { digits, decimals } : { digits: digits * 10n ** BigInt(-decimals), decimals: 0 };
}

/** One times the other, exactly, with no zeros behind its decimals: the smaller the integers, the longer plain numbers suffice. */
export function product(one: Decimal, other: Decimal): Decimal {
  let digits = one.digits * other.digits;
  let decimals = one.decimals + other.decimals;
  while (decimals > 0 && digits % 10n === 0n) {
    digits /= 10n;
    decimals--;
  }
  return { digits, decimals };
}

/** `decimal * 10 ** decimals` for a count of decimals at least as large as the number has. */
export function scale({ digits, decimals }: Decimal, toDecimals: number): bigint {
  return digits * 10n ** BigInt(toDecimals - decimals);
}
