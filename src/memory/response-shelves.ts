import { responseBytes } from "../responses/response-bytes.js";
import type { KeptResponse } from "../responses/response-store.js";
import { ResponseShelf, type ShelvedResponse } from "./response-shelf.js";

/** An account holds at most such a part of the store, so that it cannot drive out all that others have. */
const accountPart = 8;

/** What is kept of all accounts at most. */
export interface ShelfLimits {
  readonly maxBytes: number;
  readonly maxResponses: number;
  readonly ttlMs: number;
}

/** The responses of all accounts. Beyond its limits the oldest go: of the account, if it has more than its part, else of all. */
export class ResponseShelves {
  readonly #limits: ShelfLimits;
  readonly #byAccount = new Map<string, ResponseShelf>();
  /** In the order in which they were put. */
  readonly #inOrder = new Set<ShelvedResponse>();
  #bytes = 0;

  constructor(limits: ShelfLimits) {
    this.#limits = limits;
  }

  put(response: KeptResponse, now: number): void {
    this.#removeExpired(now);
    this.delete(response.account, response.id, now);
    const shelved = shelve(response, now);
    const maxBytes = this.#limits.maxBytes / accountPart;
    const maxResponses = this.#limits.maxResponses / accountPart;
    if (shelved.bytes > maxBytes) return;
    const shelf = this.#byAccount.get(response.account) ?? new ResponseShelf();
    this.#byAccount.set(response.account, shelf);
    shelf.add(shelved);
    this.#inOrder.add(shelved);
    this.#bytes += shelved.bytes;
    // Its newest is never too many.
    while (shelf.size > 1 && (shelf.bytes > maxBytes || shelf.size > maxResponses)) this.#remove(shelf.oldest());
    while (this.#bytes > this.#limits.maxBytes || this.#inOrder.size > this.#limits.maxResponses) {
      this.#remove(this.#oldest());
    }
  }

  find(account: string, id: string, now: number): ShelvedResponse | undefined {
    const shelved = this.#byAccount.get(account)?.get(id);
    return shelved && this.#isAlive(shelved, now) ? shelved : undefined;
  }

  findItem(account: string, id: string, now: number): string | undefined {
    const holder = this.#byAccount.get(account)?.holderOf(id);
    return holder && this.#isAlive(holder, now) ? holder.items.get(id) : undefined;
  }

  delete(account: string, id: string, now: number): boolean {
    const shelved = this.#byAccount.get(account)?.get(id);
    this.#remove(shelved);
    return shelved !== undefined && this.#isAlive(shelved, now);
  }

  forget(account: string): void {
    const shelf = this.#byAccount.get(account);
    for (const shelved of [...(shelf?.all() ?? [])]) this.#remove(shelved);
  }

  #isAlive({ putAt }: ShelvedResponse, now: number): boolean {
    return now - putAt < this.#limits.ttlMs;
  }

  #removeExpired(now: number): void {
    for (const shelved of this.#inOrder) {
      if (this.#isAlive(shelved, now)) return;
      this.#remove(shelved);
    }
  }

  #oldest(): ShelvedResponse | undefined {
    const [oldest] = this.#inOrder;
    return oldest;
  }

  #remove(shelved: ShelvedResponse | undefined): void {
    if (shelved === undefined) return;
    const { account } = shelved.kept;
    const shelf = this.#byAccount.get(account);
    shelf?.remove(shelved);
    if (shelf?.size === 0) this.#byAccount.delete(account);
    this.#inOrder.delete(shelved);
    this.#bytes -= shelved.bytes;
  }
}

/** Copies what the caller could still change. */
function shelve(response: KeptResponse, putAt: number): ShelvedResponse {
  const copies = (list: KeptResponse["input"]) =>
    Object.freeze(list.map(({ id, json }) => Object.freeze({ id, json })));
  const { id, account, createdAt, previousResponseId, response: text } = response;
  const [input, output] = [copies(response.input), copies(response.output)];
  const kept = Object.freeze({ id, account, createdAt, previousResponseId, response: text, input, output });
  const items = new Map([...input, ...output].map((item) => [item.id, item.json]));
  return { kept, items, bytes: responseBytes(response), putAt };
}
