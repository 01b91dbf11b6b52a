import { Buffer } from "node:buffer";
import { invalidValue } from "../../errors/gateway-error.js";
import { responseNotFound } from "../../openai/responses/not-found.js";
import { readInputItemsQuery } from "../../openai/responses/read-input-items-query.js";
import { inputPageOf } from "../../responses/input-page.js";
import type { InputPage, KeptInput, KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { textSlices } from "../../wire/sliced/text-slices.js";
import { keepsNothing } from "./kept-conversation.js";

/** Where a response is kept, if it is. */
export interface KeptPlace {
  /** `undefined`: the gateway keeps none. */
  readonly store: ResponseStore | undefined;
  readonly account: string;
  readonly id: string;
}

/** How many bytes reading a response causes, as far as its store can say before it is read. */
export async function measureKept({ store, account, id }: KeptPlace): Promise<number> {
  return (await store?.measureChain?.(account, id, 1)) ?? 0;
}

/** `GET /v1/responses/{id}`, as JSON text. @throws GatewayError 404, also for another account's. */
export async function readKeptResponse(place: KeptPlace): Promise<string> {
  return (await find(place)).response;
}

/** `DELETE /v1/responses/{id}`, as JSON text. @throws GatewayError 404, also for another account's. */
export async function deleteKeptResponse({ store, account, id }: KeptPlace): Promise<string> {
  if (store === undefined) throw responseNotFound(id, keepsNothing);
  if (!(await store.delete(account, id))) throw responseNotFound(id);
  return JSON.stringify({ id, object: "response", deleted: true });
}

/**
 * `GET /v1/responses/{id}/input_items`, as the pieces of a JSON text.
 * @throws GatewayError 404, also for another account's; 400 for a query that is not valid.
 */
export async function listInputItems(place: KeptPlace, query: string | undefined): Promise<string[]> {
  const { items, hasMore } = await findInput(place, readInputItemsQuery(query));
  const ids = JSON.stringify({
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: hasMore,
  });
  const data = items.flatMap(({ json }, index) => (index === 0 ? [json] : [",", json]));
  return ['{"object":"list","data":[', ...data, `],${ids.slice(1)}`];
}

async function findInput(place: KeptPlace, page: InputPage): Promise<KeptInput> {
  const { store, account, id } = place;
  const found = await store?.findInput?.(account, id, page);
  if (found !== undefined) return found;
  const { input } = await find(place);
  const own = store?.findInput === undefined ? inputPageOf(input, page) : undefined;
  if (own === undefined) {
    throw invalidValue("after", `The response has no input item with id '${page.after?.slice(0, 200) ?? ""}'.`);
  }
  return own;
}

async function find({ store, account, id }: KeptPlace): Promise<KeptResponse> {
  if (store === undefined) throw responseNotFound(id, keepsNothing);
  const kept = await store.find(account, id);
  if (kept === undefined) throw responseNotFound(id);
  return kept;
}

/** Longer texts go out piece by piece, in UTF-16 code units. */
export const shortText = 64 * 1024;

/** The texts, one behind the other, as bytes. Each piece is made when it is asked for. */
export function* encodedPieces(texts: readonly string[]): Generator<Uint8Array, void> {
  let short = "";
  for (const text of texts) {
    if (short.length + text.length <= shortText) {
      short += text;
      continue;
    }
    if (short !== "") yield Buffer.from(short);
    short = "";
    for (const part of textSlices(text)) yield Buffer.from(part);
  }
  if (short !== "") yield Buffer.from(short);
}
