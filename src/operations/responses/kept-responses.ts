import { responseNotFound } from "../../openai/responses/not-found.js";
import type { KeptItem, KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { keepsNothing } from "./kept-conversation.js";

/** `GET /v1/responses/{id}`, as JSON text. @throws GatewayError 404, also for another account's. */
export async function readKeptResponse(store: ResponseStore | undefined, account: string, id: string): Promise<string> {
  return (await find(store, account, id)).response;
}

/** `DELETE /v1/responses/{id}`, as JSON text. @throws GatewayError 404, also for another account's. */
export async function deleteKeptResponse(
  store: ResponseStore | undefined,
  account: string,
  id: string,
): Promise<string> {
  if (store === undefined) throw responseNotFound(id, keepsNothing);
  if (!(await store.delete(account, id))) throw responseNotFound(id);
  return JSON.stringify({ id, object: "response", deleted: true });
}

/** `GET /v1/responses/{id}/input_items`, all on one page, the newest first, as JSON text. @throws GatewayError 404 */
export async function listInputItems(store: ResponseStore | undefined, account: string, id: string): Promise<string> {
  const kept = await find(store, account, id);
  const items: readonly KeptItem[] = kept.input.toReversed();
  const ids = JSON.stringify({ first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null, has_more: false });
  return `{"object":"list","data":[${items.map(({ json }) => json).join(",")}],${ids.slice(1)}`;
}

async function find(store: ResponseStore | undefined, account: string, id: string): Promise<KeptResponse> {
  if (store === undefined) throw responseNotFound(id, keepsNothing);
  const kept = await store.find(account, id);
  if (kept === undefined) throw responseNotFound(id);
  return kept;
}
