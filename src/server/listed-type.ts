import { invalidValue } from "../errors/gateway-error.js";
import { type ModelType, modelTypes } from "../operations/model-type.js";

/**
 * The type of models that a list is asked for, as `?type=chat`.
 * @returns `undefined`: models of all types.
 * @throws GatewayError 400 for a type that no model has.
 */
export function listedType(query: string | undefined): ModelType | undefined {
  const asked = new URLSearchParams(query).get("type");
  if (asked === null) return undefined;
  const type = modelTypes.find((each) => each === asked);
  if (type === undefined) throw invalidValue("type", `'type' must be one of ${modelTypes.join(", ")}.`);
  return type;
}
