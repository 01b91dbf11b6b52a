import { usualMaxTokens } from "../anthropic/messages/usual-max-tokens.js";
import type { ModelTraits } from "./operation.js";

type Bounds = Pick<ModelTraits, "contextLength" | "maxOutputTokens">;

/** The longest answer of a model, in tokens. No cap above it is sent. */
export function mostOutputTokens({ contextLength, maxOutputTokens = contextLength }: Bounds): number {
  return maxOutputTokens;
}

/**
 * The cap that a Messages target is sent where the request names none: such servers do not go without.
 * @param added - the plan's, if it has one.
 */
export function requiredOutputCap({ maxOutputTokens }: Bounds, added: number | undefined): number {
  return added ?? maxOutputTokens ?? usualMaxTokens;
}
