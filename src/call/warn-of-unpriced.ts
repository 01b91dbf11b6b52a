import type { Warn } from "../events/warning.js";
import type { Target } from "../routing/target.js";

/**
 * Warns the host of something that a model server has reported and that no price is for.
 * @param what - such as `web_search_requests`.
 */
export function warnOfUnpriced(what: string, { providerName, upstreamModel }: Target, model: string, warn: Warn): void {
  const which = `The provider "${providerName}" reported "${what}" for the model "${model}" (there "${upstreamModel}")`;
  const message = `${which}. The model has no price for it, so it was not charged as what it costs.`;
  warn({ code: "usage_unpriced", message });
}
