import { type ImageTokens, publishedTokens } from "../../operations/images/token-rows.js";
import type { ResolvedModel } from "./catalog-shape.js";

/** Whether some of its prices are for the tokens of images. */
export function pricesImageTokens({ price, upstream }: Pick<ResolvedModel, "price" | "upstream">): boolean {
  return [price, ...upstream.flatMap((target) => [target.price, target.cost])].some(
    (each) => each?.outputImage !== undefined,
  );
}

/** The most output tokens of its images; `undefined`: they are not known. */
export function imageTokensOf(
  model: Pick<ResolvedModel, "imageTokens" | "price" | "upstream">,
): readonly ImageTokens[] | undefined {
  if (model.imageTokens !== undefined) return model.imageTokens;
  if (!pricesImageTokens(model)) return undefined;
  const published = model.upstream.map((target) => publishedTokens(target.model));
  // They are the same for all of these models.
  return published.every((rows) => rows !== undefined) ? published[0] : undefined;
}
