import { invalidValue } from "../../errors/gateway-error.js";

/** Which of a response's input items are asked for. */
export interface InputItemsQuery {
  /** The id of the item behind which the page begins; `undefined`: at the beginning. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

const usualLimit = 20;
const mostItems = 100;

/**
 * Reads the query of a list of input items (OpenAI reference, "List input items").
 * @param query - undecoded.
 * @throws GatewayError 400
 */
export function readInputItemsQuery(query: string | undefined): InputItemsQuery {
  const said = new URLSearchParams(query);
  const limit = said.get("limit") ?? String(usualLimit);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > mostItems) {
    throw invalidValue("limit", `'limit' must be a whole number from 1 to ${mostItems}.`);
  }
  const order = said.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidValue("order", "'order' must be 'asc' or 'desc'.");
  return { after: said.get("after") ?? undefined, limit: Number(limit), order };
}
