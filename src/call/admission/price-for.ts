import { type CompiledPrice, scaledPrice } from "../../prices/compiled-price.js";
import type { Micro } from "../../prices/micro.js";
import type { Target } from "../../routing/target.js";
import type { CheckedCall } from "../checked-call.js";

/** Whose factor counts: the account's own replaces that of its plan. */
interface Terms {
  readonly caller: Pick<CheckedCall["caller"], "accountPriceFactor">;
  readonly allowance: Pick<CheckedCall["allowance"], "priceFactor">;
}

/** What a model or a target costs with the operator's keys: the very same price where no factor is set. */
export function priceFor({ caller, allowance }: Terms, price: CompiledPrice): CompiledPrice {
  const factor = caller.accountPriceFactor ?? allowance.priceFactor;
  return factor === undefined ? price : scaledPrice(price, factor);
}

/** What a target costs with the account's own key. Of all factors this one alone counts. */
function ownKeyPrice(
  { allowance }: Pick<CheckedCall, "allowance">,
  { price, ownKeyPriceFactor }: Pick<Target, "price" | "ownKeyPriceFactor">,
): CompiledPrice {
  return scaledPrice(price, ownKeyPriceFactor ?? allowance.ownKeyPriceFactor);
}

/** What the call costs at this target. */
export function priceAt(call: CheckedCall, target: Pick<Target, "price" | "ownKeyPriceFactor">): CompiledPrice {
  return call.choice?.ownKeys === undefined ? priceFor(call, target.price) : ownKeyPrice(call, target);
}

/** The most of what is asked of each price that the call can have: its model's, or those of targets that take its own key. */
export function mostOf(call: CheckedCall, ask: (price: CompiledPrice) => Micro): Micro {
  const { choice, model } = call;
  if (choice?.ownKeys === undefined) return ask(priceFor(call, model.price));
  return Math.max(...choice.targets.map((target) => ask(ownKeyPrice(call, target))));
}

/** Whether the call costs nothing, wherever it goes: then it holds no credits. */
export function isFree(call: CheckedCall): boolean {
  const { choice, model } = call;
  return choice?.ownKeys === undefined
    ? model.price.free
    : choice.targets.every((each) => ownKeyPrice(call, each).free);
}
