import type { CompiledPrice } from "./compiled-price.js";

/** By the price, and then by the factor. */
const known = new WeakMap<CompiledPrice, Map<number, CompiledPrice>>();

/** Of each price. There are as many factors as a host has agreed on with its customers. */
const mostFactors = 100;

/** The price times the factor, made once for both: the same object as long as it is kept, and the price itself for a factor of 1. */
export function scaledPrice(price: CompiledPrice, factor: number): CompiledPrice {
  if (factor === 1) return price;
  const ofPrice = known.get(price) ?? new Map<number, CompiledPrice>();
  known.set(price, ofPrice);
  const last = ofPrice.get(factor);
  if (last !== undefined) return last;
  const [oldest] = ofPrice.keys();
  if (ofPrice.size >= mostFactors && oldest !== undefined) ofPrice.delete(oldest);
  const scaled = price.scaled(factor);
  ofPrice.set(factor, scaled);
  return scaled;
}
