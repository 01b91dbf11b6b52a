import type { Price } from "../../metering/prices/price.js";
import type { ResolvedModel } from "./catalog-shape.js";

type Priced = Pick<ResolvedModel, "id" | "price" | "upstream">;

/** What the prices of a valid model may not say as they are meant, one sentence each. */
export function priceWarnings({ id, price, upstream }: Priced): string[] {
  const named = upstream.flatMap((target) =>
    (["price", "cost"] as const).map((name): [string, Price | undefined] => [
      `the ${name} of its target "${target.provider}"`,
      target[name],
    ]),
  );
  return [["its price", price] as const, ...named].flatMap(([name, each]) =>
    each?.images === undefined || each.images.some(isForAll)
      ? []
      : `The model "${id}": ${name} has no row of images for every quality and size. Images that no row names cost as much as ` +
        'the dearest row. Add one with credits alone, such as images: [{ quality: "high", credits: 0.2 }, { credits: 0.05 }].',
  );
}

function isForAll({
  quality,
  size,
}: {
  readonly quality?: string | undefined;
  readonly size?: string | undefined;
}): boolean {
  return quality === undefined && size === undefined;
}
