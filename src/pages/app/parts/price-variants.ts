import type { Price, StepPrices } from "../../../metering/prices/price.js";

/** A price of tokens for some calls alone. */
export interface PriceVariant {
  readonly part: keyof StepPrices;
  /** Which calls, such as `>200000` for the tokens of their prompts, or `priority` for their tier. */
  readonly of: string;
  readonly credits: number;
}

/** What a price says of larger prompts and of other tiers. */
export function priceVariants({ steps, tiers = {} }: Pick<Price, "steps" | "tiers">): PriceVariant[] {
  const ofTiers = Object.entries(tiers).flatMap(([tier, { steps: own, ...prices }]) => [
    ...variantsOf(prices, tier),
    ...variantsOfSteps(own, `${tier} `),
  ]);
  return [...variantsOfSteps(steps, ""), ...ofTiers];
}

function variantsOfSteps(steps: Price["steps"], tier: string): PriceVariant[] {
  return (steps ?? []).flatMap(({ above, ...prices }) => variantsOf(prices, `${tier}>${above}`));
}

function variantsOf(prices: StepPrices, of: string): PriceVariant[] {
  return (Object.entries(prices) as [keyof StepPrices, number | undefined][]).flatMap(([part, credits]) =>
    credits === undefined ? [] : [{ part, of, credits }],
  );
}
