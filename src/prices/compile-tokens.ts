import type { PriceParts, ReadPrice } from "./compiled-price.js";
import { type Micro, scale } from "./micro.js";
import type { TokenPrices } from "./price.js";

/** 1 credit per million tokens is 1 micro-credit per token, so only the price per call changes its unit: by 10^6. */
const microDecimals = 6;

/** A price for plain tokens alone. */
export function compileTokens(prices: TokenPrices, read: ReadPrice): PriceParts {
  // Everything is counted in units of 10^-decimals micro-credits, the coarsest unit in which all prices are whole:
  // the smaller the integers, the longer plain numbers suffice.
  const { request, ...ofTokens } = prices;
  const ofCall = read(request, "request");
  const kinds = Object.entries(ofTokens).map(([part, value]) => read(value, part));
  const decimals = Math.max(ofCall.decimals - microDecimals, ...kinds.map((kind) => kind.decimals));
  const unit = 10n ** BigInt(decimals);
  const base = scale(ofCall, decimals + microDecimals);
  const weights = kinds.map((kind) => scale(kind, decimals)) as [bigint, bigint, bigint, bigint, bigint, bigint];
  const [fresh, cached, written, writtenForHour, answered, thought] = weights;
  const dearestInput = [cached, written, writtenForHour].reduce(larger, fresh);
  const exactCost = weightedTokens({ base, unit, weights });
  const worstCost = weightedTokens({
    ...{ base, unit },
    weights: [dearestInput, 0n, 0n, 0n, larger(answered, thought), 0n],
  });

  const pricesTokens = weights.some((weight) => weight !== 0n);

  // A call computes several costs, one after the other.
  const counts: [number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0];
  return {
    version: (ofTokens) => ofTokens,
    free: base === 0n && !pricesTokens,
    pricesTokens,
    units: [],
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
  };
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

/** What a cost is made of: `ceil((base + Σ countᵢ · weightᵢ) / unit)`. */
interface Weights<Kinds> {
  readonly base: bigint;
  readonly unit: bigint;
  readonly weights: Kinds;
}

/** One for each kind of plain token. */
type TokenKinds<T> = readonly [T, T, T, T, T, T];

/** For plain tokens: without a loop, since every call of a chat model computes it several times. */
function weightedTokens(price: Weights<TokenKinds<bigint>>): (counts: TokenKinds<number>) => Micro {
  const plainBase = Number(price.base);
  const plainUnit = Number(price.unit);
  const [a, b, c, d, e, f] = price.weights.map(Number) as unknown as TokenKinds<number>;

  return (counts) => {
    const [p, q, r, s, t, u] = counts;
    if (!(isCount(p) && isCount(q) && isCount(r) && isCount(s) && isCount(t) && isCount(u))) throw noCounts(counts);
    // No term is negative and rounding is monotonic, so a sum that comes out safe had only exact steps.
    const sum = plainBase + p * a + q * b + r * c + s * d + t * e + u * f;
    return sum <= Number.MAX_SAFE_INTEGER ? rounded(sum, plainUnit) : exactSum(price, counts);
  };
}

/** For any number of kinds. */
export function weightedCounts(price: Weights<readonly bigint[]>): (counts: readonly number[]) => Micro {
  const plainBase = Number(price.base);
  const plainUnit = Number(price.unit);
  const plain = price.weights.map(Number);

  return (counts) => {
    if (!counts.every(isCount)) throw noCounts(counts);
    const sum = counts.reduce((total, count, kind) => total + count * (plain[kind] ?? 0), plainBase);
    return sum <= Number.MAX_SAFE_INTEGER ? rounded(sum, plainUnit) : exactSum(price, counts);
  };
}

/** Dividing first could round a tiny remainder away. */
function rounded(sum: number, unit: number): Micro {
  const remainder = sum % unit;
  return (sum - remainder) / unit + (remainder > 0 ? 1 : 0);
}

function exactSum({ base, unit, weights }: Weights<readonly bigint[]>, counts: readonly number[]): Micro {
  const exact = weights.reduce((total, weight, kind) => total + weight * BigInt(counts[kind] ?? 0), base);
  const micro = (exact + unit - 1n) / unit;
  return micro > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(micro);
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function noCounts(counts: readonly number[]): RangeError {
  return new RangeError(`Token counts must be whole numbers of at least 0, not ${counts.join(", ")}.`);
}
