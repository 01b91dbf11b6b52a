import type { KeptItem, KeptResponse } from "../../responses/response-store.js";
import { toNumber } from "../numbers.js";

/** A response as its table has it. */
export interface ResponseRow {
  sequence: unknown;
  id: string;
  account: string;
  created_at: unknown;
  previous_id: string | null;
  bytes: unknown;
  response: string;
}

/** An item as its table has it. */
export interface ItemRow {
  is_output: unknown;
  id: string;
  item: string;
}

export function toKeptResponse(row: ResponseRow, items: readonly ItemRow[]): KeptResponse {
  const { id, account, response } = row;
  const itemsOf = (isOutput: number): KeptItem[] =>
    items.filter((item) => toNumber(item.is_output) === isOutput).map((item) => ({ id: item.id, json: item.item }));
  return {
    id,
    account,
    createdAt: toNumber(row.created_at),
    previousResponseId: row.previous_id ?? undefined,
    response,
    input: itemsOf(0),
    output: itemsOf(1),
  };
}
