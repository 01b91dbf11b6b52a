import { isGatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import type { Warn } from "../../events/warning.js";
import { repeatedRead } from "../../guard/repeated-read.js";
import type { TimeLimit } from "../../guard/time-limit.js";
import type { CallResponses } from "../../responses/call-responses.js";
import type { KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { PutsInFlight } from "./puts-in-flight.js";

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
