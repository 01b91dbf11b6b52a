import type { Allowance } from "../../access/allowance.js";
import type { Caller } from "../../access/caller.js";
import { type CompiledPrice, scaledPrice } from "../../prices/compiled-price.js";

/** Whose factor counts: the account's own replaces that of its plan. */
interface Terms {
  readonly caller: Pick<Caller, "accountPriceFactor">;
  readonly allowance: Pick<Allowance, "priceFactor">;
}

/** What a model or a target costs under these terms: the very same price where no factor is set. */
export function priceFor({ caller, allowance }: Terms, price: CompiledPrice): CompiledPrice {
  const factor = caller.accountPriceFactor ?? allowance.priceFactor;
  return factor === undefined ? price : scaledPrice(price, factor);
}
