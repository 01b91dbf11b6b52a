import { PriceRows } from "../../metering/prices/price-rows.js";
import type { ImageCount } from "../../metering/usage-counts.js";

/** The most output tokens of images of a kind. */
export interface ImageTokens {
  /** Such as `high`. Default: any that has no row of its own. */
  quality?: string | undefined;
  /** Such as `1024x1024`. Default: any that has no row of its own. */
  size?: string | undefined;
  tokens: number;
}

/** Finds the most output tokens of an image, by the rows of its model: the same as its price. */
export function tokenRows(rows: readonly ImageTokens[]): (image: Omit<ImageCount, "count">) => number {
  const prices = new PriceRows(rows.map(({ quality, size, tokens }) => ({ quality, size, weight: BigInt(tokens) })));
  return (image) => rows[prices.placeFor({ ...image, count: 1 })]?.tokens ?? 0;
}

const gptImage = /^gpt-image-1(-mini|\.5)?(-\d{4}-\d{2}-\d{2})?$/;

const sizes = ["1024x1024", "1024x1536", "1536x1024"];
const published = { low: [272, 408, 400], medium: [1056, 1584, 1568], high: [4160, 6240, 6208] };

/** What OpenAI has published of a model; `undefined`: nothing. @param name - OpenAI's own. */
export function publishedTokens(name: string): readonly ImageTokens[] | undefined {
  if (!gptImage.test(name)) return undefined;
  return Object.entries(published).flatMap(([quality, counts]) =>
    counts.map((tokens, place) => ({ quality, size: sizes[place], tokens })),
  );
}
