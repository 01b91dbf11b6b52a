import { compileTokens } from "./compile-tokens.js";
import { compileUnits, pricedUnits } from "./compile-units.js";
import { type CompiledPrice, keepsScaled, type PriceParts, type ReadPrice } from "./compiled-price.js";
import { type Decimal, product, toDecimal } from "./micro.js";
import { type Price, shownTokenPrices, tokenPrices } from "./price.js";
import type { UsageCounts } from "./usage-counts.js";

const maxDecimals = 12;
const once: Decimal = { digits: 1n, decimals: 0 };

/**
 * Turns prices in decimal into exact integer arithmetic.
 *
 * @param name - of the option, for error messages.
 * @param factors - each part of the price is multiplied by all of them, such as a plan's factor and the share of a kept response.
 * @throws RangeError when a price is negative, not finite, or has more than 12 decimals.
 */
export function compilePrice(price: Price, name = "price", factors: readonly number[] = []): CompiledPrice {
  const times = factors.map((factor) => toDecimal(factor, "A price factor")).reduce(product, once);
  const compiled = compileVariants(price, name, (flat, part) => compileFlat(flat, part, times));
  const { version } = compiled;
  return {
    ...compiled,
    version: [version, ...factors].join("*"),
    scaled: keepsScaled((factor) => compilePrice(price, name, [...factors, factor])),
  };
}

/** A price that is the same for every call. */
function compileFlat(price: Price, name: string, times: Decimal): Omit<CompiledPrice, "scaled"> {
  const read: ReadPrice = (value, part) => product(readPrice(value, `${name}.${part}`), times);
  const prices = tokenPrices(price);
  const units = pricedUnits(price);
  const parts: PriceParts =
    units === undefined ? compileTokens(prices, read) : compileUnits(price, { prices, units, read });
  return { ...parts, version: parts.version(shownTokenPrices(price, prices)) };
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

/** A price without {@link CompiledPrice.scaled}, which is made with a factor. */
type Compiled = Omit<CompiledPrice, "scaled">;

/** Compiles a price that has no steps and no tiers. @param name - of the option, for error messages. */
type CompileFlat = (price: Price, name: string) => Compiled;

/** A price by the size of the prompt and by the tier that serves the call. Most prices have neither. */
function compileVariants(price: Price, name: string, compileFlat: CompileFlat): Compiled {
  const { tiers, ...usual } = price;
  const base = compileSteps(usual, name, compileFlat);
  const named = Object.entries(tiers ?? {});
  if (named.length === 0) return base;
  // A step is for the usual tier: what another one costs above it, that tier's own steps say.
  const { steps: _steps, ...flat } = usual;
  const byTier = new Map(
    named.map(([tier, own]) => [tier, compileSteps({ ...flat, ...own }, `${name}.tiers.${tier}`, compileFlat)]),
  );
  const shown = [...byTier].map(([tier, { version }]) => `tier.${tier}=${within(version, ["[", "]"])}`);
  return {
    ...dearestOf([base, ...byTier.values()], (all) => all),
    tiers: [...byTier.keys()],
    version: [base.version, ...shown].join(";"),
    cost: (used) => (byTier.get(used.serviceTier ?? "") ?? base).cost(used),
  };
}

function compileSteps({ steps = [], ...flat }: Price, name: string, compileFlat: CompileFlat): Compiled {
  const base = compileFlat(flat, name);
  if (steps.length === 0) return base;
  const sorted = steps
    .map(({ above, ...own }, place) => ({
      above,
      compiled: compileFlat({ ...flat, ...own }, `${name}.steps[${place}]`),
    }))
    .sort((one, other) => one.above - other.above);
  const shown = sorted.map(({ above, compiled }) => `above.${above}=${within(compiled.version, ["(", ")"])}`);
  const all = [base, ...sorted.map(({ compiled }) => compiled)];
  const reached = (input: number) => 1 + sorted.filter(({ above }) => input > above).length;
  return {
    // A prompt may turn out to be smaller than it is held at: no step below it is ruled out.
    ...dearestOf(all, (compiled, input) => compiled.slice(0, reached(input))),
    version: [base.version, ...shown].join(";"),
    cost: (used: UsageCounts) => (all[reached(used.input) - 1] ?? base).cost(used),
  };
}

/** @param applying - those of them that can apply to a prompt of at most so many tokens. */
function dearestOf(
  all: readonly Compiled[],
  applying: (all: readonly Compiled[], input: number) => readonly Compiled[],
): Pick<Compiled, "free" | "pricesTokens" | "units" | "upperBound"> {
  return {
    free: all.every(({ free }) => free),
    pricesTokens: all.some(({ pricesTokens }) => pricesTokens),
    units: [...new Set(all.flatMap(({ units }) => units))],
    upperBound: (input, output, most) =>
      Math.max(...applying(all, input).map((each) => each.upperBound(input, output, most))),
  };
}

/** A version in another one. */
function within(version: string, [open, close]: readonly [string, string]): string {
  return version.includes(";") ? `${open}${version.replaceAll(";", ",")}${close}` : version;
}
