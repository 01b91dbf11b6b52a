import { isGatewayError, serviceUnavailable } from "../errors/gateway-error.js";
import type { Warn } from "../events/warning.js";
import type { TimeLimit } from "../guard/time-limit.js";
import type { ResponseStore } from "../responses/response-store.js";

/**
 * The store of responses as calls use it: every method ends in time. One that finds or deletes rejects with a 503 where the
 * store fails. A response that cannot be kept fails nothing: the host gets a warning.
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
