import type { KeptResponse } from "../responses/response-store.js";

/** A response in memory. */
export interface ShelvedResponse {
  readonly kept: KeptResponse;
  /** Its items' texts, by their ids. */
  readonly items: ReadonlyMap<string, string>;
  readonly bytes: number;
  /** Epoch milliseconds. */
  readonly putAt: number;
}

/** The responses of one account, the oldest first, and their items. */
export class ResponseShelf {
  readonly #byId = new Map<string, ShelvedResponse>();
  /** Those that have an item of an id, the newest last. */
  readonly #holders = new Map<string, ShelvedResponse[]>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): ShelvedResponse | undefined {
    return this.#byId.get(id);
  }

  oldest(): ShelvedResponse | undefined {
    const [oldest] = this.#byId.values();
    return oldest;
  }

  all(): Iterable<ShelvedResponse> {
    return this.#byId.values();
  }

  /** The newest response that has an item of this id. */
  holderOf(itemId: string): ShelvedResponse | undefined {
    return this.#holders.get(itemId)?.at(-1);
  }

  /** Adds one whose id is not there. */
  add(response: ShelvedResponse): void {
    this.#byId.set(response.kept.id, response);
    this.#bytes += response.bytes;
    for (const id of response.items.keys()) {
      const holders = this.#holders.get(id);
      if (holders) holders.push(response);
      else this.#holders.set(id, [response]);
    }
  }

  remove(response: ShelvedResponse): void {
    this.#byId.delete(response.kept.id);
    this.#bytes -= response.bytes;
    for (const id of response.items.keys()) this.#removeHolder(id, response);
  }

  #removeHolder(id: string, response: ShelvedResponse): void {
    const holders = this.#holders.get(id);
    if (holders === undefined) return;
    // Nearly always the first one: the oldest go first.
    holders.splice(holders.indexOf(response), 1);
    if (holders.length === 0) this.#holders.delete(id);
  }
}
