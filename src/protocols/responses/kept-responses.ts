import { Buffer } from "node:buffer";
import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import { inputPageOf } from "../../responses/checked-response-store.js";
import type { InputPage, KeptInput, KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { isRecord } from "../../wire/is-record.js";
import { textSlices } from "../../wire/json-steps.js";
import { responseNotFound } from "./conversation-errors.js";
import { keepsNothing } from "./kept-conversation.js";
import { eachResponseEvent } from "./response-to-events.js";

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

/** Which of a response's input items are asked for. */
interface InputItemsQuery {
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
function readInputItemsQuery(query: string | undefined): InputItemsQuery {
  const said = new URLSearchParams(query);
  const limit = said.get("limit") ?? String(usualLimit);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > mostItems) {
    throw invalidValue("limit", `'limit' must be a whole number from 1 to ${mostItems}.`);
  }
  const order = said.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalidValue("order", "'order' must be 'asc' or 'desc'.");
  return { after: said.get("after") ?? undefined, limit: Number(limit), order };
}

/** Whether a kept response is to come as the events of a stream, and from where on. */
interface Replay {
  /** The number of the last event that the client has; -1: none. */
  readonly startingAfter: number;
}

/** A longer one is read as JSON: to make events of it, all of it becomes values at once. In UTF-16 code units. */
const longestReplayed = 2 ** 20;

/**
 * Reads the query of a kept response (OpenAI reference, "Get a model response").
 * @param query - undecoded.
 * @returns `undefined`: it is to come as JSON.
 * @throws GatewayError 400
 */
export function readReplay(query: string | undefined): Replay | undefined {
  if (query === undefined || query === "") return undefined;
  const said = new URLSearchParams(query);
  const stream = said.get("stream") ?? "false";
  if (stream !== "true" && stream !== "false") throw invalidValue("stream", "'stream' must be 'true' or 'false'.");
  if (stream === "false") return undefined;
  const after = said.get("starting_after");
  if (after !== null && !/^\d{1,15}$/.test(after)) {
    throw invalidValue("starting_after", "'starting_after' must be the number of an event.");
  }
  return { startingAfter: after === null ? -1 : Number(after) };
}

/**
 * The events of a kept response, as they would have come, each made when it is asked for.
 * @param response - as JSON text.
 * @throws GatewayError 400 for a response that is too long.
 */
export function replayedEvents(response: string, { startingAfter }: Replay): Iterator<Uint8Array, void> {
  if (response.length > longestReplayed) throw tooLong();
  const value: unknown = JSON.parse(response);
  return framed(isRecord(value) ? value : {}, startingAfter);
}

function* framed(response: Record<string, unknown>, startingAfter: number): Generator<Uint8Array, void> {
  for (const { event, data } of eachResponseEvent(response, startingAfter)) {
    yield Buffer.from(`event: ${event}\ndata: ${data}\n\n`);
  }
}

function tooLong(): GatewayError {
  return new GatewayError("The response is too long to come as events. Read it without 'stream'.", {
    status: 400,
    code: "unsupported_value",
    param: "stream",
  });
}
