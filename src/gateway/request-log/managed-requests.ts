import * as z from "zod";
import { checkInput, UnsupportedError } from "../../check/check-input.js";
import { idText } from "../../check/text-schemas.js";
import type { Warn } from "../../events/warning.js";
import type { Clock } from "../../ledger/calendar.js";
import type { TimeLimit } from "../../ledger/guard/time-limit.js";
import { checkRequestQuery } from "../../request-log/check-request-query.js";
import type { LoggedRequest, RequestLog, RequestPage, RequestQuery } from "../../request-log/request-log.js";
import { fromStore } from "../admin/from-store.js";
import type { ResolvedOptions } from "../resolve-options.js";
import { redactor } from "./request-log-options.js";
import { RequestLogWriter } from "./request-log-writer.js";

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

/** The log of the options, and what writes it. */
export interface WrittenLog {
  readonly store: RequestLog;
  readonly writer: RequestLogWriter;
  /** How much of texts a line keeps; 0: nothing. */
  readonly maxTextCharacters: number;
  /** For so long a reader waits for what this process has noted. */
  readonly timeLimit: TimeLimit;
}

/** @returns `undefined` where requests are not logged. */
export function writtenLog(
  { requestLog, isolate }: ResolvedOptions,
  clock: Clock,
  { timeLimit, warn }: Pick<WrittenLog, "timeLimit"> & { readonly warn: Warn },
): WrittenLog | undefined {
  if (requestLog === undefined) return undefined;
  const { store, maxQueuedRows: maxRows, maxQueuedBytes: maxBytes, keepTexts } = requestLog;
  const redact = keepTexts && redactor(keepTexts, warn);
  const writer = new RequestLogWriter({ store, maxRows, maxBytes, warn, clock, isolate, redact });
  return { store, timeLimit, writer, maxTextCharacters: keepTexts?.maxCharacters ?? 0 };
}

/**
 * Asks the log when what waits is written; a store that hangs is not waited for.
 * @param by - the public method, for the error.
 * @throws GatewayError 503 when the store fails.
 */
export async function askLog<Found>(
  { store, writer, timeLimit }: WrittenLog,
  by: string,
  find: (store: RequestLog) => Promise<Found>,
): Promise<Found> {
  await timeLimit.race(writer.flush()).catch(() => {});
  return fromStore(by, "request log", () => find(store));
}
