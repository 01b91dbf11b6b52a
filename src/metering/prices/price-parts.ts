import type { Decimal } from "../decimal.js";
import type { CompiledPrice } from "./compiled-price.js";

/** Reads a part of a price. @throws RangeError when it is none. */
export type ReadPrice = (value: number, part: string) => Decimal;

/** What differs between prices of tokens alone and others. */
export interface PriceParts extends Pick<CompiledPrice, "free" | "pricesTokens" | "units" | "cost" | "upperBound"> {
  /** @param ofTokens - what the journal shows of the tokens' prices. */
  version(ofTokens: string): string;
}
