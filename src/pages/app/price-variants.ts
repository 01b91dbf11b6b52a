/** A price of tokens for some calls alone. */
export interface PriceVariant {
  /** A member of a `Price`. */
  readonly part: string;
  /** Which calls, such as `>200000` for the tokens of their prompts, or `priority` for their tier. */
  readonly of: string;
  readonly credits: number;
}

interface Varied {
  /** The `steps` of a `Price`. */
  readonly steps?: unknown;
  /** The `tiers` of a `Price`. */
  readonly tiers?: unknown;
}

/** What a price says of larger prompts and of other tiers. */
export function priceVariants({ steps, tiers }: Varied): PriceVariant[] {
  const ofTiers = Object.entries((tiers ?? {}) as Record<string, Varied>).flatMap(
    ([tier, { steps: own, ...prices }]) => [...variantsOf(prices, tier), ...variantsOfSteps(own, `${tier} `)],
  );
  return [...variantsOfSteps(steps, ""), ...ofTiers];
}

function variantsOfSteps(steps: unknown, tier: string): PriceVariant[] {
  return ((steps ?? []) as { above: number }[]).flatMap(({ above, ...prices }) =>
    variantsOf(prices, `${tier}>${above}`),
  );
}

function variantsOf(prices: object, of: string): PriceVariant[] {
  return Object.entries(prices).flatMap(([part, credits]: [string, unknown]) =>
    typeof credits === "number" ? [{ part, of, credits }] : [],
  );
}
