import { Buffer } from "node:buffer";
import { expandInput, inputItems, referencedIds } from "../../openai/responses/expand-input.js";
import { ownItemId } from "../../openai/responses/item-ids.js";
import { itemNotFound, previousResponseNotFound } from "../../openai/responses/not-found.js";
import type { ResponsesRequest } from "../../openai/responses/responses-request.js";
import type { CallResponses } from "../../responses/call-responses.js";
import type { KeptItem, KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { editMembers, elementsOf, endOfValue, memberOf, membersOf, valueAt } from "../../wire/json-members.js";

/** Why nothing is found where the gateway has no store. */
export const keepsNothing = "This server keeps no responses.";

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
  #referenced: ReadonlyMap<string, Uint8Array> = new Map();

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

  /**
   * The request's text with all that it refers to in its place.
   * @returns `undefined` where it refers to nothing.
   * @throws GatewayError 400 where something of that is not kept, 503 when the store fails.
   */
  async expand(maxBytes: number): Promise<Uint8Array | undefined> {
    const { previousResponseId } = this;
    const ids = referencedIds(this.#request);
    if (previousResponseId === undefined && ids.length === 0) return undefined;
    const store = this.#store;
    if (store === undefined) throw this.#keepsNothing();
    const earlier = previousResponseId === undefined ? [] : await this.#itemsBefore(store, previousResponseId);
    const found = ids.length === 0 ? new Map<string, string>() : await store.findItems(this.#account, ids);
    const referenced = new Map([...found].map(([id, item]) => [id, Buffer.from(item)]));
    this.#referenced = referenced;
    return expandInput(this.#request, { earlier, referenced }, maxBytes);
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
      response: bytes.toString(),
      input: this.#inputItems().flatMap((item, index) => keptItem(item, id, index)),
      output: outputItems(bytes).flatMap((item, index) => keptItem(item, id, `o${index}`)),
    });
  }

  /** What is referred to stands in its place: whoever goes on from here reads it. */
  #inputItems(): Uint8Array[] {
    const { items } = this.#request;
    return inputItems(this.#request).flatMap((item, index) => {
      const { type, id = "" } = items?.[index] ?? {};
      return type === "item_reference" ? (this.#referenced.get(id) ?? []) : item;
    });
  }

  #keepsNothing() {
    const { previousResponseId, items = [] } = this.#request;
    if (previousResponseId !== undefined) return previousResponseNotFound(previousResponseId, keepsNothing);
    const index = items.findIndex(({ type }) => type === "item_reference");
    return itemNotFound(items[index]?.id ?? "", index, keepsNothing);
  }

  async #itemsBefore(store: ResponseStore, id: string): Promise<Uint8Array[]> {
    const turns = await store.findChain(this.#account, id, mostTurns);
    if (turns === undefined) throw previousResponseNotFound(id);
    return turns.flatMap(({ input, output }) => [...input, ...output].map(({ json }) => Buffer.from(json)));
  }
}

/** Items may have no id, or one that no store takes. All else of them stays byte for byte. */
function keptItem(item: Uint8Array, responseId: string, place: number | string): KeptItem[] {
  if (item[0] !== 0x7b) return [];
  const members = membersOf(item);
  const member = memberOf(members, "id");
  const id = member === undefined ? undefined : valueAt(item, member);
  if (typeof id === "string" && plainId.test(id)) return [{ id, json: asBuffer(item).toString() }];
  const own = ownItemId("item", responseId, place);
  return [{ id: own, json: editMembers(item, members, new Map([["id", JSON.stringify(own)]])).toString() }];
}

function outputItems(response: Buffer): Uint8Array[] {
  const output = memberOf(membersOf(response), "output");
  if (output === undefined || response[output.start] !== 0x5b) return [];
  return elementsOf(response, output.start).map((start) => response.subarray(start, endOfValue(response, start)));
}

const plainId = /^[\w.:-]{1,200}$/;
