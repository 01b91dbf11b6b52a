import { requireKnownOptions } from "../../check/known-options.js";
import { checkedResponseStore } from "../../responses/checked-response-store.js";
import { pagePlaces } from "../../responses/input-page.js";
import { responseBytes } from "../../responses/response-bytes.js";
import { checkResponseLimits, knownResponseLimits, type ResponseLimits } from "../../responses/response-limits.js";
import type { KeptItem, KeptResponse, ResponseStore } from "../../responses/response-store.js";
import { wholeChain } from "../../responses/whole-chain.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "../database.js";
import { Purger } from "../purger.js";
import { ReadCommitted } from "../read-committed.js";
import {
  deleteProcedure,
  deleteSql,
  findChainSql,
  findItemsSql,
  findSql,
  forgetProcedure,
  forgetSql,
  inputIdsSql,
  inputItemsSql,
  measureChainSql,
  measureItemsSql,
  purgeSql,
  putProcedure,
  putSql,
} from "./response-sql.js";

/** Options of {@link postgresResponseStore}. */
export interface PostgresResponseStoreOptions extends PostgresOptions, ResponseLimits {}

const forgottenAtOnce = 100;

type StoredItem = readonly [isOutput: boolean, id: string, json: string];

interface StoredInput {
  readonly sequence: number;
  readonly ids: readonly string[];
}

interface StoredResponse extends Omit<KeptResponse, "previousResponseId" | "input" | "output"> {
  readonly previousResponseId: string | null;
  readonly items: readonly StoredItem[];
}

/**
 * Keeps responses in PostgreSQL. What has expired is deleted now and then, some with a response that is put. The database's
 * clock is the only one.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresResponseStore(options: PostgresResponseStoreOptions): ResponseStore {
  requireKnownOptions("postgresResponseStore", options, { ...knownPostgresOptions, ...knownResponseLimits });
  return responseStore(new Database(options), options);
}

/** @throws RangeError when a limit is out of range. */
export function responseStore(database: Database, limits: ResponseLimits | undefined): ResponseStore {
  const { ttlMs, maxAccountBytes } = checkResponseLimits(limits);
  const readCommitted = new ReadCommitted(database);
  const purger = new Purger(async (stepSize) => {
    const [more] = await database.query(purgeSql, [ttlMs, stepSize]);
    return more === true;
  });

  return checkedResponseStore("postgresResponseStore", {
    async put(response) {
      await readCommitted.query(putSql, putProcedure, [...valuesOf(response), maxAccountBytes]);
      if (database.isolate) await purger.runDue();
      else purger.touch();
    },
    async find(account, id) {
      const [found] = await database.query<StoredResponse>(findSql, [account, id, ttlMs]);
      return found && toKeptResponse(found);
    },
    async findChain(account, id, most) {
      const found = await database.query<StoredResponse>(findChainSql, [account, id, ttlMs, most]);
      return wholeChain(found.map(toKeptResponse));
    },
    async findItems(account, ids) {
      return new Map(await database.query<[string, string]>(findItemsSql, [account, JSON.stringify(ids), ttlMs]));
    },
    async measureChain(account, id, most) {
      const [bytes] = await database.query<number>(measureChainSql, [account, id, ttlMs, most]);
      return bytes;
    },
    async measureItems(account, ids) {
      return new Map(await database.query<[string, number]>(measureItemsSql, [account, JSON.stringify(ids), ttlMs]));
    },
    async findInput(account, id, page) {
      const [found] = await database.query<StoredInput>(inputIdsSql, [account, id, ttlMs]);
      const wanted = found && pagePlaces(found.ids, page);
      if (wanted === undefined) return undefined;
      const places = JSON.stringify(wanted.places);
      const items = await database.query<KeptItem>(inputItemsSql, [found?.sequence ?? 0, places]);
      return { items, hasMore: wanted.hasMore };
    },
    async delete(account, id) {
      const [deleted] = await readCommitted.query(deleteSql, deleteProcedure, [account, id, ttlMs]);
      return deleted === true;
    },
    async forget(account) {
      let deleted: number | undefined;
      do {
        [deleted] = await readCommitted.query<number>(forgetSql, forgetProcedure, [
          account,
          Number.MAX_SAFE_INTEGER,
          forgottenAtOnce,
        ]);
      } while (deleted === forgottenAtOnce);
    },
    close: () => purger.idle(),
  });
}

function valuesOf(kept: KeptResponse): (string | number | null)[] {
  const { account, id, createdAt, previousResponseId, response, input, output } = kept;
  const toStored = (isOutput: boolean) => (item: KeptItem) => [isOutput, item.id, item.json] satisfies StoredItem;
  const items = [...input.map(toStored(false)), ...output.map(toStored(true))];
  const bytes = responseBytes(kept);
  return [account, id, createdAt, previousResponseId ?? null, bytes, response, JSON.stringify(items)];
}

function toKeptResponse({ items, previousResponseId, ...rest }: StoredResponse): KeptResponse {
  const itemsOf = (wanted: boolean): KeptItem[] =>
    items.flatMap(([isOutput, id, json]) => (isOutput === wanted ? [{ id, json }] : []));
  return {
    ...rest,
    previousResponseId: previousResponseId ?? undefined,
    input: itemsOf(false),
    output: itemsOf(true),
  };
}
