import type { GatewayWarning, Warn } from "../../events/warning.js";
import type { Price } from "../../prices/price.js";
import { operations } from "../../protocols/operations.js";
import { defaultOperations } from "../../providers/upstream-provider.js";
import type { CatalogOptions, ResolvedModel } from "./model-schema.js";

type Providers = CatalogOptions["providers"];

/** What of a valid model may not be as it is meant. */
export function modelWarnings(model: ResolvedModel, providers: Providers): GatewayWarning[] {
  return [
    ...priceWarnings(model).map((message): GatewayWarning => ({ code: "image_price_missing", message })),
    ...unservedTargets(model, providers).map((message): GatewayWarning => ({ code: "target_unserved", message })),
  ];
}

export function warnOfModels(models: readonly ResolvedModel[], providers: Providers, warn: Warn): void {
  for (const model of models) for (const warning of modelWarnings(model, providers)) warn(warning);
}

/** Of targets that no request can go to, one sentence each. */
function unservedTargets({ id, type, upstream }: ResolvedModel, providers: Providers): string[] {
  const served = operations.filter(({ modelTypes }) => modelTypes.includes(type)).map(({ name }) => name);
  const unserved = upstream.filter(({ provider }) => {
    const spoken = providers[provider]?.operations ?? defaultOperations;
    return !served.some((name) => spoken.includes(name));
  });
  return [...new Set(unserved.map(({ provider }) => provider))].map(
    (provider) =>
      `The model "${id}" is of the type "${type}", and its provider "${provider}" does not speak ${served.join(" or ")}: no ` +
      "request goes there. If its server does, say so in the provider's `operations`. Else choose another provider.",
  );
}

type Priced = Pick<ResolvedModel, "id" | "price" | "upstream">;

/** What the prices of a valid model may not say as they are meant, one sentence each. */
function priceWarnings({ id, price, upstream }: Priced): string[] {
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
