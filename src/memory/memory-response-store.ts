import { requireKnownOptions } from "../check/known-options.js";
import { type Clock, systemClock } from "../ledger/clock.js";
import { checkedResponseStore } from "../responses/checked-response-store.js";
import { inputPageOf } from "../responses/input-page.js";
import { textBytes } from "../responses/response-bytes.js";
import { checkResponseLimits, requireAtLeast } from "../responses/response-limits.js";
import type { ResponseStore } from "../responses/response-store.js";
import { wholeChain } from "../responses/whole-chain.js";
import type { ShelvedResponse } from "./response-shelf.js";
import { ResponseShelves } from "./response-shelves.js";

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
