import type { Decimal, Micro } from "./micro.js";
import type { CountedUnit, UsageCounts } from "./usage-counts.js";

/** A price made ready for the hot path. Every result is rounded up once, and saturates at the largest safe integer. */
export interface CompiledPrice {
  /** Whether every price is zero, so that no call can cost anything. */
  readonly free: boolean;
  /** Whether some tokens cost anything. */
  readonly pricesTokens: boolean;
  /** What it prices beside tokens. Usage that lacks one of these is not known: it is not free. */
  readonly units: readonly CountedUnit[];
  /** The tiers that have prices of their own. Absent: none. */
  readonly tiers?: readonly string[];
  /**
   * The prices as the journal shows them, so that an entry alone suffices to compute its charge. They are credits per
   * million of input, cached input, output and reasoning tokens, and credits per call, such as `0.15/0.075/0.6/0.6/0`.
   * Where writes to the cache have a price of their own, it comes next, and then that of writes for an hour, if it is
   * another one. All other parts follow by their names, such as `0/0/0/0/0;audioMinute=0.006`; steps and tiers, each with all
   * of its prices: `3/0.3/15/15/0;above.200000=6/0.6/22.5/22.5/0;tier.priority=6/0.6/30/30/0`. A price that a factor scales
   * ends with it: `0.15/0.075/0.6/0.6/0*0.8`.
   */
  readonly version: string;
  /** What this costs. A subset larger than its whole counts as the whole. */
  cost(used: UsageCounts): Micro;
  /**
   * The most that a call with at most these tokens can cost, however they divide into kinds.
   * @param most - what is no plain token, at the most. No token stands for an image or audio where it names none.
   */
  upperBound(inputTokens: number, outputTokens: number, most?: UsageCounts): Micro;
  /**
   * The price with each of its parts multiplied by the factor, exactly: what a call costs is rounded up once, with the factor
   * in it. It is compiled once and kept: see {@link keepsScaled}.
   */
  scaled(factor: number): CompiledPrice;
}

/** Of each price. There are as many factors as a host has agreed on with its customers. */
const mostFactors = 100;

/** The price times the factor: the same object as long as the price keeps it, and the price itself for a factor of 1. */
export function scaledPrice(price: CompiledPrice, factor: number): CompiledPrice {
  return factor === 1 ? price : price.scaled(factor);
}

/** A price's `scaled`, which keeps what `compile` makes, for the factors that came last. */
export function keepsScaled(compile: (factor: number) => CompiledPrice): CompiledPrice["scaled"] {
  let made: Map<number, CompiledPrice> | undefined;
  return (factor) => {
    made ??= new Map();
    const last = made.get(factor);
    if (last !== undefined) return last;
    const [oldest] = made.keys();
    if (made.size >= mostFactors && oldest !== undefined) made.delete(oldest);
    const scaled = compile(factor);
    made.set(factor, scaled);
    return scaled;
  };
}

/** Reads a part of a price. @throws RangeError when it is none. */
export type ReadPrice = (value: number, part: string) => Decimal;

/** What differs between prices of tokens alone and others. */
export interface PriceParts extends Pick<CompiledPrice, "free" | "pricesTokens" | "units" | "cost" | "upperBound"> {
  /** @param ofTokens - what the journal shows of the tokens' prices. */
  version(ofTokens: string): string;
}
