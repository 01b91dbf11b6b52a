import { setImmediate } from "node:timers/promises";
import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, systemClock } from "../../ledger/clock.js";
import { checkedResponseStore } from "../../responses/checked-response-store.js";
import { responseBytes } from "../../responses/response-bytes.js";
import { checkResponseLimits, knownResponseLimits, type ResponseLimits } from "../../responses/response-limits.js";
import type { KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { wholeChain } from "../../responses/whole-chain.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "../sqlite-connection.js";
import { ResponseTables } from "./response-tables.js";

/** Options of {@link sqliteResponseStore}. */
export interface SqliteResponseStoreOptions extends SqliteOptions, ResponseLimits {
  /** Default: the process's clock. The clocks of all processes that share the database must agree. */
  clock?: Clock | undefined;
}

/** So many that have expired go with each one that is put. */
const rowsPerPut = 8;
const rowsPerForgetting = 32;

/**
 * Keeps responses in a SQLite database. What has expired goes a little with each response that is put.
 *
 * @throws RangeError when a limit or `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteResponseStore(options: SqliteResponseStoreOptions): ResponseStore {
  requireKnownOptions("sqliteResponseStore", options, { ...knownSqliteOptions, ...knownResponseLimits, clock: true });
  return responseStoreOf(new SqliteConnection(options), options, options.clock);
}

export function responseStoreOf(
  connection: SqliteConnection,
  limits: ResponseLimits | undefined,
  clock: Clock = systemClock,
): ResponseStore {
  const { ttlMs, maxAccountBytes } = checkResponseLimits(limits);
  const tables = new ResponseTables(connection);
  const expiredUntil = () => clock.now() - ttlMs;

  function put(response: KeptResponse, bytes: number): void {
    const { account, id } = response;
    tables.deleteExpired(expiredUntil(), rowsPerPut);
    tables.delete(account, id, Number.MIN_SAFE_INTEGER);
    if (bytes > maxAccountBytes) return;
    tables.insert(response, bytes, clock.now());
    const deleteOldest = () => tables.deleteOldest(account, 1, Number.MAX_SAFE_INTEGER) > 0;
    while (tables.bytesOf(account) > maxAccountBytes && deleteOldest()) {}
  }

  function chain(account: string, id: string, most: number): KeptResponse[] {
    const found: KeptResponse[] = [];
    for (let next: string | undefined = id; next !== undefined && found.length < most; ) {
      const response = tables.find(account, next, expiredUntil());
      if (response === undefined) break;
      found.push(response);
      next = response.previousResponseId;
    }
    return found;
  }

  function measure(account: string, id: string, most: number): number | undefined {
    let bytes: number | undefined;
    let next: string | undefined = id;
    for (let count = 0; next !== undefined && count < most; count++) {
      const measured = tables.measure(account, next, expiredUntil());
      if (measured === undefined) break;
      bytes = (bytes ?? 0) + measured.bytes;
      next = measured.previousResponseId;
    }
    return bytes;
  }

  function measureItems(account: string, ids: readonly string[]): Map<string, number> {
    const found = new Map<string, number>();
    for (const id of ids) {
      const bytes = tables.measureItem(account, id, expiredUntil());
      if (bytes !== undefined) found.set(id, bytes);
    }
    return found;
  }

  function items(account: string, ids: readonly string[]): Map<string, string> {
    const found = new Map<string, string>();
    for (const id of ids) {
      const item = tables.findItem(account, id, expiredUntil());
      if (item !== undefined) found.set(id, item);
    }
    return found;
  }

  const read = async <Result>(work: () => Result) => connection.read(() => connection.snapshot(work));
  const write = async <Result>(work: () => Result) => connection.write(work);

  return checkedResponseStore("sqliteResponseStore", {
    async put(response) {
      const bytes = responseBytes(response);
      await write(() => put(response, bytes));
    },
    find: (account, id) => read(() => tables.find(account, id, expiredUntil())),
    findChain: async (account, id, most) => wholeChain(await read(() => chain(account, id, most))),
    findItems: (account, ids) => read(() => items(account, ids)),
    measureChain: (account, id, most) => read(() => measure(account, id, most)),
    measureItems: (account, ids) => read(() => measureItems(account, ids)),
    findInput: (account, id, page) => read(() => tables.findInput(account, id, page, expiredUntil())),
    delete: (account, id) => write(() => tables.delete(account, id, expiredUntil())),
    async forget(account) {
      const newest = await read(() => tables.newestOf(account));
      const deleteSome = () => tables.deleteOldest(account, rowsPerForgetting, newest);
      while ((await write(deleteSome)) === rowsPerForgetting) await setImmediate();
    },
    close: () => connection.idle(),
  });
}
