import { isGatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import type { Warn } from "../events/warning.js";
import type { TimeLimit } from "../guard/time-limit.js";
import type { ResponseStore } from "../responses/response-store.js";

/**
 * Wraps the store of responses. Every method ends in time. Reading and deleting reject with a 503 when the store fails.
 * When a response cannot be kept, the request succeeds, and the host gets a warning.
 */
export function watchedResponses(store: ResponseStore, limit: TimeLimit, warn: Warn): ResponseStore {
  const ask = async <Found>(what: string, find: () => Promise<Found>): Promise<Found> => {
    try {
      return await limit.race(find());
    } catch (cause) {
      if (isGatewayError(cause)) throw cause;
      warn({ code: "response_store_failed", message: `The response store failed to ${what}.`, cause });
      throw serviceUnavailable("Responses cannot be read at the moment. Try again shortly.", cause);
    }
  };
  return {
    put: (response) => ask("keep a response", () => store.put(response)).catch(() => {}),
    find: (account, id) => ask("find a response", () => store.find(account, id)),
    findChain: (account, id, most) => ask("find responses", () => store.findChain(account, id, most)),
    findItems: (account, ids) => ask("find items", () => store.findItems(account, ids)),
    delete: (account, id) => ask("delete a response", () => store.delete(account, id)),
    forget: (account) => ask("forget an account", () => store.forget(account)),
    close: () => store.close(),
  };
}
