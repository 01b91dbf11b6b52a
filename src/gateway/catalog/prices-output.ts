import type { ResolvedModel } from "./catalog-shape.js";

/** Whether some of a model's prices are for tokens of output. */
export function pricesOutput({ price, upstream }: Pick<ResolvedModel, "price" | "upstream">): boolean {
  return [price, ...upstream.flatMap((target) => [target.price, target.cost])].some(
    (each) => each?.output !== undefined || each?.outputAudio !== undefined,
  );
}

/** Whether some of them are for audio, in any step and tier. */
export function pricesAudio({ price, upstream }: Pick<ResolvedModel, "price" | "upstream">): boolean {
  return [price, ...upstream.flatMap((target) => [target.price, target.cost])].some((each) => {
    const tiers = Object.values(each?.tiers ?? {});
    const all = [each, ...tiers, ...[each, ...tiers].flatMap((one) => one?.steps ?? [])];
    return all.some((one) => [one?.inputAudio, one?.cachedInputAudio, one?.outputAudio].some(isGiven));
  });
}

function isGiven(amount: number | undefined): boolean {
  return amount !== undefined;
}

/** Whether some of them are for tokens of any kind. */
export function pricesTokens(model: Pick<ResolvedModel, "price" | "upstream">): boolean {
  const { price, upstream } = model;
  return (
    pricesOutput(model) ||
    [price, ...upstream.flatMap((target) => [target.price, target.cost])].some(
      (each) => each?.input !== undefined || each?.inputAudio !== undefined,
    )
  );
}
