import { type Decimal, product, toDecimal } from "../decimal.js";
import { compileTokens } from "./compile-tokens.js";
import { compileUnits, pricedUnits } from "./compile-units.js";
import { compileVariants } from "./compile-variants.js";
import type { CompiledPrice } from "./compiled-price.js";
import type { Price } from "./price.js";
import type { PriceParts, ReadPrice } from "./price-parts.js";
import { shownTokenPrices, tokenPrices } from "./token-prices.js";

const maxDecimals = 12;

/**
 * Turns prices in decimal into exact integer arithmetic.
 *
 * @param name - of the option, for error messages.
 * @param factor - greater than 0; of each part of the price.
 * @throws RangeError when a price is negative, not finite, or has more than 12 decimals.
 */
export function compilePrice(price: Price, name = "price", factor = 1): CompiledPrice {
  const times = toDecimal(factor, "A price factor");
  const compiled = compileVariants(price, name, (flat, part) => compileFlat(flat, part, times));
  const { version } = compiled;
  return {
    ...compiled,
    version: factor === 1 ? version : `${version}*${factor}`,
    scaled: (other) => compilePrice(price, name, other),
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
