import { isGatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import type { Warn } from "../events/warning.js";
import { repeatedRead, type TimeLimit } from "../ledger/guard/time-limit.js";
import { nextTurn } from "../ledger/promised.js";
import type { CallResponses, KeptResponse, ResponseStore } from "../responses/response-store.js";
import { BackgroundWork } from "../runtime/background-work.js";
import { RotatingMap } from "../stores/memory/rotating-map.js";

/**
 * Wraps the store of responses. Every method ends in time. Reading and deleting reject with a 503 when the store fails.
 * When a response cannot be kept, the request succeeds, and the host gets a warning.
 */
export function watchedResponses(store: ResponseStore, limit: TimeLimit, warn: Warn): CallResponses {
  const puts = new PutsInFlight();
  const ask = async <Found>(what: string, find: () => Promise<Found>): Promise<Found> => {
    try {
      return await limit.race(find());
    } catch (cause) {
      if (isGatewayError(cause)) throw cause;
      warn({ code: "response_store_failed", message: `The response store failed to ${what}.`, cause });
      throw serviceUnavailable("Responses cannot be read at the moment. Try again shortly.", cause);
    }
  };
  const put = (response: KeptResponse) => {
    const kept = ask("keep a response", async () => store.put(response)).catch(() => {});
    puts.add(response.account, kept);
    return kept;
  };
  /** What changes nothing is sent again where it has no response. */
  const read = <Found>(what: string, find: () => Promise<Found>): Promise<Found> =>
    ask(what, () => repeatedRead(find(), find, limit));
  const { measureChain, measureItems, findInput } = store;
  return {
    put,
    putLater(account) {
      const isForgotten = puts.begin(account);
      return async (response) => {
        if (!isForgotten()) await put(response);
      };
    },
    settled: () => puts.settled(),
    find: (account, id) => read("find a response", async () => store.find(account, id)),
    findChain: (account, id, most) => read("find responses", async () => store.findChain(account, id, most)),
    findItems: (account, ids) => read("find items", async () => store.findItems(account, ids)),
    ...(measureChain && {
      measureChain: (account, id, most) =>
        read("measure responses", async () => measureChain.call(store, account, id, most)),
    }),
    ...(measureItems && {
      measureItems: (account, ids) => read("measure items", async () => measureItems.call(store, account, ids)),
    }),
    ...(findInput && {
      findInput: (account, id, page) => read("find items", async () => findInput.call(store, account, id, page)),
    }),
    delete: (account, id) => ask("delete a response", async () => store.delete(account, id)),
    async forget(account) {
      await puts.forget(account);
      await ask("forget an account", async () => store.forget(account));
    },
    close: () => store.close(),
  };
}

/** Longer than any call takes. */
const longestCallMs = 86_400_000;

/** Puts what is kept and what is forgotten in order: no response of an account comes back once the account is forgotten. */
class PutsInFlight {
  /** By account: the moment, as counted here. */
  readonly #forgotten = new RotatingMap<number>(longestCallMs);
  readonly #puts = new BackgroundWork();
  #moment = 0;

  /** A call begins. @returns whether its account has been forgotten since. */
  begin(account: string): () => boolean {
    const begunAt = this.#moment;
    return () => (this.#forgotten.get(account) ?? -1) >= begunAt;
  }

  add(account: string, put: Promise<void>): void {
    this.#puts.add(put, account);
  }

  /** Resolves when nothing of what the account had comes any more. */
  async forget(account: string): Promise<void> {
    this.#forgotten.set(account, this.#moment++, Date.now());
    await this.#puts.of(account);
  }

  /** Resolves when no put is under way any more. */
  async settled(): Promise<void> {
    // A call that was settled just now puts its response in this turn.
    await nextTurn();
    await this.#puts.idle();
  }
}
