import * as z from "zod";
import { checkRequestQuery } from "../../books/requests/check-request-query.js";
import type { LoggedRequest } from "../../books/requests/logged-request.js";
import type { RequestLog, RequestPage, RequestQuery } from "../../books/requests/request-log.js";
import { checkInput } from "../../check/check-input.js";
import { idText } from "../../check/id-text.js";
import { UnsupportedError } from "../../check/unsupported-error.js";
import { askLog } from "./ask-log.js";
import type { WrittenLog } from "./written-log.js";

/**
 * Reads the request log. What this process has noted is written first, unless the store takes long.
 *
 * Every method rejects with a TypeError for what is not valid, with an UnsupportedError 501 without the option `requestLog`,
 * and with a GatewayError 503 when the store fails.
 */
export interface ManagedRequests {
  /** One page, the newest requests first. */
  list(query?: RequestQuery): Promise<RequestPage>;
  /** The newest request of this `x-request-id`, or `undefined` where none is kept. */
  get(requestId: string): Promise<LoggedRequest | undefined>;
}

const getInput = z.strictObject({ requestId: idText() });

export function managedRequests(log: WrittenLog | undefined): ManagedRequests {
  const ask = async <Found>(by: string, find: (store: RequestLog) => Promise<Found>): Promise<Found> => {
    if (log === undefined) {
      throw new UnsupportedError(
        `${by}: there is no request log. Give createGateway \`requestLog\`: that of your stores, or memoryRequestLog().`,
      );
    }
    return askLog(log, by, find);
  };
  return {
    async list(query = {}) {
      const by = "gateway.requests.list";
      checkRequestQuery(by, query);
      return ask(by, (store) => store.list(query));
    },
    async get(requestId) {
      const by = "gateway.requests.get";
      checkInput(by, getInput, { requestId });
      return ask(by, (store) => store.get(requestId));
    },
  };
}
