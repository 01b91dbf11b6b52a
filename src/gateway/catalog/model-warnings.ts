import type { GatewayWarning, Warn } from "../../events/warning.js";
import { operations } from "../../operations/table.js";
import { defaultOperations } from "../../providers/upstream-provider.js";
import type { CatalogOptions, ResolvedModel } from "./catalog-shape.js";
import { priceWarnings } from "./price-warnings.js";

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
