import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, systemClock } from "../../ledger/calendar.js";
import {
  checkedResponseStore,
  inputPageOf,
  responseBytes,
  textBytes,
  wholeChain,
} from "../../responses/checked-response-store.js";
import {
  checkResponseLimits,
  type KeptResponse,
  type ResponseStore,
  requireAtLeast,
} from "../../responses/response-store.js";

/** Options of {@link memoryResponseStore}. */
export interface MemoryResponseStoreOptions {
  /**
   * How many bytes of responses are kept, of all accounts: their texts in UTF-8 and 256 for each response and item. An account
   * has an eighth of it at most. A larger response is not kept. Default: 134,217,728, which is 128 MiB.
   */
  maxBytes?: number | undefined;
  /** How many responses are kept, of all accounts. An account has an eighth of them at most. Default: 100,000. */
  maxResponses?: number | undefined;
  /** How long a response is kept, in milliseconds; at least a second. Default: 30 days. */
  ttlMs?: number | undefined;
  /** Default: the process's clock. */
  clock?: Clock | undefined;
}

/**
 * Keeps responses in this process, until it ends. Beyond its limits the oldest go.
 * @throws RangeError when a limit is out of range.
 */
export function memoryResponseStore(options: MemoryResponseStoreOptions = {}): ResponseStore {
  requireKnownOptions("memoryResponseStore", options, { maxBytes: true, maxResponses: true, ttlMs: true, clock: true });
  const { maxBytes = 128 * 1_024 * 1_024, maxResponses = 100_000, clock = systemClock } = options;
  requireAtLeast("maxBytes", maxBytes, 1);
  requireAtLeast("maxResponses", maxResponses, 1);
  const { ttlMs } = checkResponseLimits({ ttlMs: options.ttlMs });
  const shelves = new ResponseShelves({ maxBytes, maxResponses, ttlMs });

  function chain(account: string, id: string, most: number): ShelvedResponse[] {
    const now = clock.now();
    const found: ShelvedResponse[] = [];
    for (let next: string | undefined = id; next !== undefined && found.length < most; ) {
      const response = shelves.find(account, next, now);
      if (response === undefined) break;
      found.push(response);
      next = response.kept.previousResponseId;
    }
    return found;
  }

  function items(account: string, ids: readonly string[]): (readonly [string, string])[] {
    const now = clock.now();
    return ids.flatMap((id) => {
      const found = shelves.findItem(account, id, now);
      return found === undefined ? [] : [[id, found] as const];
    });
  }

  return checkedResponseStore("memoryResponseStore", {
    put: async (response) => shelves.put(response, clock.now()),
    find: async (account, id) => shelves.find(account, id, clock.now())?.kept,
    findChain: async (account, id, most) => wholeChain(chain(account, id, most).map(({ kept }) => kept)),
    findItems: async (account, ids) => new Map(items(account, ids)),
    async measureChain(account, id, most) {
      const found = chain(account, id, most);
      return found.length === 0 ? undefined : found.reduce((sum, { bytes }) => sum + bytes, 0);
    },
    measureItems: async (account, ids) => new Map(items(account, ids).map(([id, json]) => [id, textBytes(json)])),
    async findInput(account, id, page) {
      const found = shelves.find(account, id, clock.now());
      return found && inputPageOf(found.kept.input, page);
    },
    delete: async (account, id) => shelves.delete(account, id, clock.now()),
    forget: async (account) => shelves.forget(account),
    close: async () => {},
  });
}

/** An account holds at most such a part of the store, so that it cannot drive out all that others have. */
const accountPart = 8;

/** What is kept of all accounts at most. */
interface ShelfLimits {
  readonly maxBytes: number;
  readonly maxResponses: number;
  readonly ttlMs: number;
}

/** The responses of all accounts. Beyond its limits the oldest go: of the account, if it has more than its part, else of all. */
class ResponseShelves {
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

/** A response in memory. */
interface ShelvedResponse {
  readonly kept: KeptResponse;
  /** Its items' texts, by their ids. */
  readonly items: ReadonlyMap<string, string>;
  readonly bytes: number;
  /** Epoch milliseconds. */
  readonly putAt: number;
}

/** The responses of one account, the oldest first, and their items. */
class ResponseShelf {
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
