import { Buffer } from "node:buffer";
import { GatewayError, invalidValue } from "../errors/gateway-error.js";
import { expandInput, inputItems, referencedIds } from "../openai/responses/expand-input.js";
import { previousResponseNotFound } from "../openai/responses/not-found.js";
import type { ResponsesRequest } from "../openai/responses/responses-request.js";
import type { KeptItem, ResponseStore } from "../responses/response-store.js";
import { isRecord } from "../wire/is-record.js";

/** As many turns as one request can go on from. */
const mostTurns = 1000;

/** What a request refers to, and what is kept of it for later ones. */
export class KeptConversation {
  /** As its client sent it. */
  readonly #request: ResponsesRequest;
  readonly #store: ResponseStore | undefined;
  readonly #account: string;

  /** @param store - `undefined`: the gateway keeps no responses. */
  constructor(request: ResponsesRequest, store: ResponseStore | undefined, account: string) {
    this.#request = request;
    this.#store = store;
    this.#account = account;
  }

  /** Whether later requests can refer to the response. */
  get isStored(): boolean {
    return this.#store !== undefined && this.#request.store;
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
    if (store === undefined) throw keepsNothing(previousResponseId === undefined ? "input" : "previous_response_id");
    const earlier = previousResponseId === undefined ? [] : await this.#itemsBefore(store, previousResponseId);
    const found = ids.length === 0 ? new Map<string, string>() : await store.findItems(this.#account, ids);
    const referenced = new Map([...found].map(([id, item]) => [id, Buffer.from(item)]));
    const expanded = expandInput(this.#request, { earlier, referenced });
    if (expanded.length > maxBytes) throw tooLong(maxBytes);
    return expanded;
  }

  /**
   * Keeps a response that has come to its end, if the client wants that.
   * @param json - as the client got it.
   */
  async keep(id: string, json: Uint8Array | string, createdAt: number): Promise<void> {
    if (!this.isStored || this.#store === undefined) return;
    const response = typeof json === "string" ? json : Buffer.from(json).toString();
    const { output } = JSON.parse(response) as { output?: unknown };
    await this.#store.put({
      id,
      account: this.#account,
      createdAt,
      previousResponseId: this.previousResponseId,
      response,
      input: inputItems(this.#request).flatMap((item, index) =>
        keptItem(JSON.parse(Buffer.from(item).toString()), `${id}_${index}`),
      ),
      output: (Array.isArray(output) ? output : []).flatMap((item, index) => keptItem(item, `${id}_o${index}`)),
    });
  }

  async #itemsBefore(store: ResponseStore, id: string): Promise<Uint8Array[]> {
    const turns = await store.findChain(this.#account, id, mostTurns);
    if (turns === undefined) throw previousResponseNotFound(id);
    return turns.flatMap(({ input, output }) => [...input, ...output].map(({ json }) => Buffer.from(json)));
  }
}

/** Items of an input may have no id, or one that no store takes. What refers to another item is none. */
function keptItem(item: unknown, fallback: string): KeptItem[] {
  if (!isRecord(item) || item["type"] === "item_reference") return [];
  const { id } = item;
  if (typeof id === "string" && plainId.test(id)) return [{ id, json: JSON.stringify(item) }];
  const own = `item_${fallback.replace(/^resp_/, "")}`;
  return [{ id: own, json: JSON.stringify({ ...item, id: own }) }];
}

const plainId = /^[\w.:-]{1,200}$/;

function keepsNothing(param: string): GatewayError {
  return new GatewayError(
    "This server keeps no responses. Send the items of the conversation as input; with the AI SDK, set " +
      "providerOptions.openai.store to false.",
    { status: 400, code: "unsupported_parameter", param },
  );
}

function tooLong(maxBytes: number): GatewayError {
  const message = `The conversation is larger than ${maxBytes} bytes. Begin a new one, or send fewer items.`;
  return invalidValue("previous_response_id", message);
}
