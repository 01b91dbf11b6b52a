import { scale } from "../decimal.js";
import type { PriceParts, ReadPrice } from "./price-parts.js";
import type { TokenPrices } from "./token-prices.js";
import { weightedTokens } from "./weighted-sum.js";

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
