import type { Micro } from "../micro.js";

/** What a cost is made of: `ceil((base + Σ countᵢ · weightᵢ) / unit)`. */
export interface Weights<Kinds> {
  readonly base: bigint;
  readonly unit: bigint;
  readonly weights: Kinds;
}

/** One for each kind of plain token. */
export type TokenKinds<T> = readonly [T, T, T, T, T, T];

/** For plain tokens: without a loop, since every call of a chat model computes it several times. */
export function weightedTokens(price: Weights<TokenKinds<bigint>>): (counts: TokenKinds<number>) => Micro {
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
