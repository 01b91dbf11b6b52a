import { type Decimal, product, scale, toDecimal } from "./decimal.js";
import type { Micro } from "./micro.js";
import type { TokenCounts } from "./token-counts.js";

/** What a model costs. All prices are finite and at least 0, with at most 12 decimals. */
export interface Price {
  /** Credits per million prompt tokens. */
  input: number;
  /** Credits per million of the prompt tokens that the upstream read from its cache. Default: `input`. */
  cachedInput?: number | undefined;
  /** Credits per million of the prompt tokens that the upstream put into its cache. Default: `input`. */
  cacheWrite?: number | undefined;
  /**
   * Credits per million of the prompt tokens that the upstream put into its cache for an hour. Default: `cacheWrite`; but
   * where that is above `input`, at least twice `input`, which is what Anthropic charges for such writes.
   */
  cacheWrite1h?: number | undefined;
  /** Credits per million completion tokens. Chat models must have it; for others the default is 0. */
  output?: number | undefined;
  /** Credits per million of the completion tokens that were spent on reasoning. Default: `output`. */
  reasoning?: number | undefined;
  /** Credits per call. Default: 0. */
  request?: number | undefined;
}

/** A price made ready for the hot path. Every result is rounded up once, and saturates at the largest safe integer. */
export interface CompiledPrice {
  /** Whether every price is zero, so that no call can cost anything. */
  readonly free: boolean;
  /**
   * The prices as the journal shows them, so that an entry alone suffices to compute its charge. They are credits per
   * million of input, cached input, output and reasoning tokens, and credits per call, such as `0.15/0.075/0.6/0.6/0`.
   * Where writes to the cache have a price of their own, it comes next, and then that of writes for an hour, if it is
   * another one. A price that a factor scales ends with it: `0.15/0.075/0.6/0.6/0*0.8`.
   */
  readonly version: string;
  /** What these tokens cost. A subset larger than its whole counts as the whole. */
  cost(tokens: TokenCounts): Micro;
  /** The most that a call with at most these tokens can cost, however they divide into kinds. */
  upperBound(inputTokens: number, outputTokens: number): Micro;
  /**
   * Compiles the price anew, with each of its parts multiplied by the factor, exactly: what a call costs is rounded up once,
   * with the factor in it. Use {@link scaledPrice}, which keeps what it makes.
   */
  scaled(factor: number): CompiledPrice;
}

const maxDecimals = 12;
/** 1 credit per million tokens is 1 micro-credit per token, so only the price per call changes its unit: by 10^6. */
const microDecimals = 6;

/**
 * Turns prices in decimal into exact integer arithmetic.
 *
 * @param name - of the option, for error messages.
 * @param factor - greater than 0; of each part of the price.
 * @throws RangeError when a price is negative, not finite, or has more than 12 decimals.
 */
export function compilePrice(price: Price, name = "price", factor = 1): CompiledPrice {
  const times = toDecimal(factor, "A price factor");
  const read = (value: number, part: string) => product(readPrice(value, part), times);
  const input = read(price.input, `${name}.input`);
  const cachedInput = read(price.cachedInput ?? price.input, `${name}.cachedInput`);
  const cacheWrite = read(price.cacheWrite ?? price.input, `${name}.cacheWrite`);
  const hourPrice = price.cacheWrite1h ?? usualHourPrice(price);
  const cacheWrite1h = read(hourPrice, `${name}.cacheWrite1h`);
  const output = read(price.output ?? 0, `${name}.output`);
  const reasoning = read(price.reasoning ?? price.output ?? 0, `${name}.reasoning`);
  const request = read(price.request ?? 0, `${name}.request`);

  // Everything is counted in units of 10^-decimals micro-credits, the coarsest unit in which all prices are whole:
  // the smaller the integers, the longer plain numbers suffice.
  const perToken = [input, cachedInput, cacheWrite, cacheWrite1h, output, reasoning];
  const decimals = Math.max(request.decimals - microDecimals, ...perToken.map((decimal) => decimal.decimals));
  const unit = 10n ** BigInt(decimals);
  const perCall = scale(request, decimals + microDecimals);
  const fresh = scale(input, decimals);
  const cached = scale(cachedInput, decimals);
  const written = scale(cacheWrite, decimals);
  const writtenForHour = scale(cacheWrite1h, decimals);
  const answered = scale(output, decimals);
  const thought = scale(reasoning, decimals);

  const exactCost = weightedSum(perCall, unit, [fresh, cached, written, writtenForHour, answered, thought]);
  const dearestInput = [cached, written, writtenForHour].reduce(larger, fresh);
  const worstCost = weightedSum(perCall, unit, [dearestInput, 0n, 0n, 0n, larger(answered, thought), 0n]);

  // A call computes several costs, one after the other.
  const counts: [number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0];
  return {
    version: factor === 1 ? versionOf(price, hourPrice) : `${versionOf(price, hourPrice)}*${factor}`,
    free: perCall === 0n && perToken.every((decimal) => decimal.digits === 0n),
    cost(tokens) {
      const cachedInput = Math.min(tokens.cachedInput, tokens.input);
      const cacheWrite = Math.min(tokens.cacheWrite ?? 0, tokens.input - cachedInput);
      const forHour = Math.min(tokens.cacheWrite1h ?? 0, cacheWrite);
      const reasoning = Math.min(tokens.reasoning, tokens.output);
      const fresh = tokens.input - cachedInput - cacheWrite;
      counts[0] = fresh;
      counts[1] = cachedInput;
      counts[2] = cacheWrite - forHour;
      counts[3] = forHour;
      counts[4] = tokens.output - reasoning;
      counts[5] = reasoning;
      return exactCost(counts);
    },
    upperBound(inputTokens, outputTokens) {
      counts.fill(0);
      counts[0] = inputTokens;
      counts[4] = outputTokens;
      return worstCost(counts);
    },
    scaled: (other) => compilePrice(price, name, other),
  };
}

/**
 * What a write for an hour costs where its price is not given. Only servers that charge as Anthropic does report such
 * writes; a price of writes above that of the prompt tells that the model is sold as it is bought.
 */
function usualHourPrice({ input, cacheWrite = input }: Price): number {
  return cacheWrite > input ? Math.max(cacheWrite, 2 * input) : cacheWrite;
}

function versionOf(price: Price, hourPrice: number): string {
  const { input, cachedInput = input, cacheWrite, output = 0, reasoning = output, request = 0 } = price;
  const prices = [input, cachedInput, output, reasoning, request];
  const hasHourPrice = hourPrice !== (cacheWrite ?? input);
  if (cacheWrite !== undefined || hasHourPrice) prices.push(cacheWrite ?? input);
  if (hasHourPrice) prices.push(hourPrice);
  return prices.join("/");
}

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

/** One for each kind of token. */
type Kinds<T> = readonly [T, T, T, T, T, T];

/** `ceil((base + Σ countᵢ · weightᵢ) / unit)`: in plain numbers while the sum is exact in them, in BigInt otherwise. */
function weightedSum(base: bigint, unit: bigint, weights: Kinds<bigint>): (counts: Kinds<number>) => Micro {
  const plainBase = Number(base);
  const plainUnit = Number(unit);
  const [a, b, c, d, e, f] = weights.map(Number) as unknown as Kinds<number>;

  return (counts) => {
    const [p, q, r, s, t, u] = counts;
    if (!(isCount(p) && isCount(q) && isCount(r) && isCount(s) && isCount(t) && isCount(u))) {
      throw new RangeError(`Token counts must be whole numbers of at least 0, not ${counts.join(", ")}.`);
    }
    // No term is negative and rounding is monotonic, so a sum that comes out safe had only exact steps.
    const sum = plainBase + p * a + q * b + r * c + s * d + t * e + u * f;
    if (sum <= Number.MAX_SAFE_INTEGER) {
      // Dividing first could round a tiny remainder away.
      const remainder = sum % plainUnit;
      return (sum - remainder) / plainUnit + (remainder > 0 ? 1 : 0);
    }
    const exact = weights.reduce((total, weight, kind) => total + weight * BigInt(counts[kind] ?? 0), base);
    const micro = (exact + unit - 1n) / unit;
    return micro > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(micro);
  };
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function readPrice(value: number, name: string): Decimal {
  const decimal = toDecimal(value, name);
  if (decimal.decimals > maxDecimals) {
    throw new RangeError(
      `${name} must have at most ${maxDecimals} decimals, not ${decimal.decimals} (${value}). ` +
        "A result of floating-point arithmetic wants rounding first.",
    );
  }
  return decimal;
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}
