import type { RequestLog } from "../../books/requests/request-log.js";
import { fromStore } from "../admin/from-store.js";
import type { WrittenLog } from "./written-log.js";

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
