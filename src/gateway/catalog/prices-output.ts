import type { ResolvedModel } from "./catalog-shape.js";

/** Whether some of a model's prices are for tokens of output. */
export function pricesOutput({ price, upstream }: Pick<ResolvedModel, "price" | "upstream">): boolean {
  return [price, ...upstream.flatMap((target) => [target.price, target.cost])].some(
    (each) => each?.output !== undefined || each?.outputAudio !== undefined,
  );
}
