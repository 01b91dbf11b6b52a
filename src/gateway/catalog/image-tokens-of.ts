import { type ImageTokens, publishedTokens } from "../../operations/images/token-rows.js";
import type { ResolvedModel } from "./catalog-shape.js";

/** Whether some of its prices are for the tokens of images: a price for output is one for these, where they have none. */
export function pricesImageTokens({
  type,
  price,
  upstream,
}: Pick<ResolvedModel, "type" | "price" | "upstream">): boolean {
  if (type !== "image") return false;
  return [price, ...upstream.flatMap((target) => [target.price, target.cost])].some(
    (each) => each?.outputImage !== undefined || each?.output !== undefined,
  );
}

/** The most output tokens of its images; `undefined`: they are not known. */
export function imageTokensOf(
  model: Pick<ResolvedModel, "type" | "imageTokens" | "price" | "upstream">,
): readonly ImageTokens[] | undefined {
  if (model.imageTokens !== undefined) return model.imageTokens;
  if (!pricesImageTokens(model)) return undefined;
  const published = model.upstream.map((target) => publishedTokens(target.model));
  // They are the same for all of these models.
  return published.every((rows) => rows !== undefined) ? published[0] : undefined;
}
