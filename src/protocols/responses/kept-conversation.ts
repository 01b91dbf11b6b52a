import { Buffer } from "node:buffer";
import { responseBytes, textBytes } from "../../responses/checked-response-store.js";
import type { CallResponses, KeptItem, KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { asBuffer } from "../../wire/bytes.js";
import { editMembers, elementsOf, endOfValue, memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import { bySize, SliceCount, type Steps } from "../../wire/slices.js";
import type { LoadRoom } from "../shared/operation.js";
import { conversationTooLong, itemNotFound, previousResponseNotFound } from "./conversation-errors.js";
import { expandInput, inputItems, referencedIds } from "./expand-input.js";
import { ownItemId } from "./own-items.js";
import type { ResponsesRequest } from "./responses-request.js";

/** Why nothing is found where the gateway has no store. */
export const keepsNothing = "This server keeps no responses.";

const nothingReferenced: ReadonlyMap<string, string> = new Map();

/** As many turns as one request can go on from. */
const mostTurns = 1000;

/** What a request refers to, and what is kept of it for later ones. */
export class KeptConversation {
  /** As its client sent it. */
  readonly #request: ResponsesRequest;
  readonly #store: CallResponses | undefined;
  readonly #put: ((response: KeptResponse) => Promise<void>) | undefined;
  readonly #account: string;
  /** What the input refers to, by the ids there. */
  #referenced = nothingReferenced;

  /** @param store - `undefined`: the gateway keeps no responses. */
  constructor(request: ResponsesRequest, store: CallResponses | undefined, account: string) {
    this.#request = request;
    this.#store = store;
    this.#put = request.store ? store?.putLater(account) : undefined;
    this.#account = account;
  }

  /** Whether later requests can refer to the response. */
  get isStored(): boolean {
    return this.#put !== undefined;
  }

  get previousResponseId(): string | undefined {
    return this.#request.previousResponseId;
  }

  /** Whether the request refers to anything. */
  get refers(): boolean {
    const { previousResponseId, items } = this.#request;
    if (previousResponseId !== undefined) return true;
    return items !== undefined && referencedIds(this.#request).length > 0;
  }

  /**
   * The request's text with all that it refers to in its place. Room for that is taken before it is loaded.
   * @throws GatewayError 400 where something of that is not kept or it is too much, 503 when the store fails, and what the
   * room throws.
   */
  async expand(room: LoadRoom, maxBytes: number): Promise<Uint8Array> {
    const store = this.#store;
    if (store === undefined) throw this.#keepsNothing();
    const ids = referencedIds(this.#request);
    const measured = await this.#measure(store, ids, maxBytes);
    if (measured > room.most) throw conversationTooLong(this.#request, maxBytes);
    room.take(measured);
    const turns = await this.#turnsBefore(store);
    const referenced = ids.length === 0 ? new Map<string, string>() : await store.findItems(this.#account, ids);
    // A store that measures nothing, and one that has got more meanwhile.
    const loaded = loadedBytes(turns, referenced.values());
    if (loaded > measured) room.take(loaded - measured);
    this.#referenced = referenced;
    const earlier = turns.flatMap(({ input, output }) => [...input, ...output].map(({ json }) => json));
    return await expandInput(this.#request, { earlier, referenced }, maxBytes);
  }

  /** How many bytes the request causes, as far as the store can say. An item counts as often as it is referred to. */
  async #measure(store: ResponseStore, ids: readonly string[], maxBytes: number): Promise<number> {
    const { previousResponseId } = this;
    let bytes = 0;
    if (previousResponseId !== undefined) {
      bytes += (await store.measureChain?.(this.#account, previousResponseId, mostTurns)) ?? 0;
    }
    if (ids.length === 0 || store.measureItems === undefined) return bytes;
    const sizes = await store.measureItems(this.#account, ids);
    const referred = ids.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    if (referred > maxBytes) throw conversationTooLong(this.#request, maxBytes);
    return bytes + referred;
  }

  /**
   * Keeps a response that has come to its end, if the client wants that.
   * @param json - as the client got it.
   */
  async keep(id: string, json: Uint8Array | string, createdAt: number): Promise<void> {
    if (this.#put === undefined) return;
    const bytes = typeof json === "string" ? Buffer.from(json) : asBuffer(json);
    await this.#put({
      id,
      account: this.#account,
      createdAt,
      previousResponseId: this.previousResponseId,
      response: typeof json === "string" ? json : bytes.toString(),
      input: await bySize(this.#request.body.length, keptItems(this.#inputItems(), id, "")),
      output: await bySize(bytes.length, keptItems(outputItems(bytes), id, "o")),
    });
  }

  /** What is referred to stands in its place: whoever goes on from here reads it. */
  *#inputItems(): Generator<Uint8Array, void> {
    const { items } = this.#request;
    for (const [index, item] of inputItems(this.#request).entries()) {
      const { type, id = "" } = items?.[index] ?? {};
      const referenced = type === "item_reference" ? this.#referenced.get(id) : undefined;
      if (type !== "item_reference") yield item;
      else if (referenced !== undefined) yield Buffer.from(referenced);
    }
  }

  #keepsNothing() {
    const { previousResponseId, items = [] } = this.#request;
    if (previousResponseId !== undefined) return previousResponseNotFound(previousResponseId, keepsNothing);
    const index = items.findIndex(({ type }) => type === "item_reference");
    return itemNotFound(items[index]?.id ?? "", index, keepsNothing);
  }

  async #turnsBefore(store: ResponseStore): Promise<readonly KeptResponse[]> {
    const { previousResponseId: id } = this;
    if (id === undefined) return [];
    const turns = await store.findChain(this.#account, id, mostTurns);
    if (turns === undefined) throw previousResponseNotFound(id);
    return turns;
  }
}

/** What was loaded, in bytes. */
function loadedBytes(turns: readonly KeptResponse[], items: Iterable<string>): number {
  let bytes = turns.reduce((sum, turn) => sum + responseBytes(turn), 0);
  for (const item of items) bytes += textBytes(item);
  return bytes;
}

/** What an item costs by itself, as bytes that are read in the same time. */
const itemBytes = 512;

/** The items as they are kept, made in slices. @param mark - before their places. */
function* keptItems(items: Iterable<Uint8Array>, responseId: string, mark: string): Steps<KeptItem[]> {
  const count = new SliceCount();
  const kept: KeptItem[] = [];
  let place = 0;
  for (const item of items) {
    const found = keptItem(item, responseId, `${mark}${place++}`);
    if (found !== undefined) kept.push(found);
    if (count.isFull(item.length + itemBytes)) yield;
  }
  return kept;
}

/** Items may have no id, or one that no store takes. All else of them stays byte for byte. */
function keptItem(item: Uint8Array, responseId: string, place: string): KeptItem | undefined {
  if (item[0] !== 0x7b) return undefined;
  const members = membersOf(item);
  const member = memberOf(members, "id");
  const id = member === undefined ? undefined : valueAt(item, member);
  if (typeof id === "string" && plainId.test(id)) return { id, json: asBuffer(item).toString() };
  const own = ownItemId("item", responseId, place);
  return { id: own, json: editMembers(item, members, new Map([["id", JSON.stringify(own)]])).toString() };
}

function* outputItems(response: Buffer): Generator<Uint8Array, void> {
  const output = memberOf(membersOf(response), "output");
  if (output === undefined || response[output.start] !== 0x5b) return;
  for (const start of elementsOf(response, output.start)) {
    yield response.subarray(start, endOfValue(response, start));
  }
}

const plainId = /^[\w.:-]{1,200}$/;
