import { setImmediate } from "node:timers/promises";
import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, systemClock } from "../../ledger/calendar.js";
import { checkedResponseStore, pagePlaces, responseBytes, wholeChain } from "../../responses/checked-response-store.js";
import {
  checkResponseLimits,
  type InputPage,
  type KeptInput,
  type KeptItem,
  type KeptResponse,
  knownResponseLimits,
  type ResponseLimits,
  type ResponseStore,
} from "../../responses/response-store.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";
import { type SqliteStatement, toNumber } from "./sqlite-database.js";

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

  const read = async <Result>(work: () => Result) => connection.read(() => connection.snapshot(work));
  const write = async <Result>(work: () => Result) => connection.write(work);

  return checkedResponseStore("sqliteResponseStore", {
    async put(response) {
      const bytes = responseBytes(response);
      await write(() => put(response, bytes));
    },
    find: (account, id) => read(() => tables.find(account, id, expiredUntil())),
    findChain: async (account, id, most) => wholeChain(await read(() => chain(account, id, most))),
    findItems: (account, ids) => read(() => foundOf(ids, (id) => tables.findItem(account, id, expiredUntil()))),
    measureChain: (account, id, most) => read(() => measure(account, id, most)),
    measureItems: (account, ids) => read(() => foundOf(ids, (id) => tables.measureItem(account, id, expiredUntil()))),
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

/** What is known of a response that is not loaded. */
interface MeasuredResponse {
  readonly bytes: number;
  readonly previousResponseId: string | undefined;
}

type Place = Pick<ResponseRow, "sequence" | "account" | "bytes">;

/** The rows of responses, of their items, and of how much each account has. Whoever writes does it in a transaction. */
class ResponseTables {
  readonly #byId: SqliteStatement;
  readonly #placeById: SqliteStatement;
  readonly #sizeById: SqliteStatement;
  readonly #itemSize: SqliteStatement;
  readonly #inputIds: SqliteStatement;
  readonly #itemAt: SqliteStatement;
  readonly #items: SqliteStatement;
  readonly #item: SqliteStatement;
  readonly #insert: SqliteStatement;
  readonly #insertItem: SqliteStatement;
  readonly #ofAccount: SqliteStatement;
  readonly #expired: SqliteStatement;
  readonly #delete: SqliteStatement;
  readonly #deleteItems: SqliteStatement;
  readonly #bytes: SqliteStatement;
  readonly #addBytes: SqliteStatement;
  readonly #newest: SqliteStatement;
  readonly #deleteEmpty: SqliteStatement;

  constructor(connection: SqliteConnection) {
    const place = "SELECT sequence, account, bytes FROM infergate_response WHERE";
    this.#byId = connection.prepare("SELECT * FROM infergate_response WHERE account = ? AND id = ? AND put_at > ?");
    this.#placeById = connection.prepare(`${place} account = ? AND id = ? AND put_at > ?`);
    this.#items = connection.prepare("SELECT * FROM infergate_response_item WHERE response = ? ORDER BY position");
    const newest = `
      FROM infergate_response_item AS item JOIN infergate_response AS kept ON kept.sequence = item.response
      WHERE item.account = ? AND item.id = ? AND kept.put_at > ?
      ORDER BY item.response DESC, item.position DESC LIMIT 1`;
    this.#item = connection.prepare(`SELECT item ${newest}`);
    this.#itemSize = connection.prepare(`SELECT length(CAST(item AS BLOB)) AS bytes ${newest}`);
    this.#sizeById = connection.prepare(`
      SELECT bytes, previous_id FROM infergate_response WHERE account = ? AND id = ? AND put_at > ?`);
    const ofInput = "FROM infergate_response_item WHERE response = ? AND is_output = 0";
    this.#inputIds = connection.prepare(`SELECT id ${ofInput} ORDER BY position`);
    this.#itemAt = connection.prepare(`SELECT id, item ${ofInput} AND position = ?`);
    this.#insert = connection.prepare(`
      INSERT INTO infergate_response (account, id, put_at, created_at, previous_id, bytes, response)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING sequence`);
    this.#insertItem = connection.prepare(`
      INSERT INTO infergate_response_item (response, position, is_output, account, id, item) VALUES (?, ?, ?, ?, ?, ?)`);
    this.#ofAccount = connection.prepare(`${place} account = ? AND sequence <= ? ORDER BY sequence LIMIT ?`);
    this.#expired = connection.prepare(`${place} put_at <= ? ORDER BY put_at LIMIT ?`);
    this.#delete = connection.prepare("DELETE FROM infergate_response WHERE sequence = ?");
    this.#deleteItems = connection.prepare("DELETE FROM infergate_response_item WHERE response = ?");
    this.#bytes = connection.prepare("SELECT bytes FROM infergate_response_account WHERE id = ?");
    this.#addBytes = connection.prepare(`
      INSERT INTO infergate_response_account (id, bytes) VALUES (?, ?)
      ON CONFLICT (id) DO UPDATE SET bytes = bytes + excluded.bytes`);
    this.#newest = connection.prepare("SELECT max(sequence) AS sequence FROM infergate_response WHERE account = ?");
    this.#deleteEmpty = connection.prepare("DELETE FROM infergate_response_account WHERE id = ? AND bytes <= 0");
  }

  /** @param after - those that were put then or earlier have expired. */
  find(account: string, id: string, after: number): KeptResponse | undefined {
    const row = this.#byId.get(account, id, after) as ResponseRow | null | undefined;
    if (!row) return undefined;
    return toKeptResponse(row, this.#items.all(toNumber(row.sequence)) as ItemRow[]);
  }

  findItem(account: string, id: string, after: number): string | undefined {
    const row = this.#item.get(account, id, after) as { item: string } | null | undefined;
    return row?.item;
  }

  /** How many bytes a response takes, and which one is before it. */
  measure(account: string, id: string, after: number): MeasuredResponse | undefined {
    const row = this.#sizeById.get(account, id, after) as Pick<ResponseRow, "bytes" | "previous_id"> | null | undefined;
    return row ? { bytes: toNumber(row.bytes), previousResponseId: row.previous_id ?? undefined } : undefined;
  }

  /** How many bytes the text of an item has. */
  measureItem(account: string, id: string, after: number): number | undefined {
    const row = this.#itemSize.get(account, id, after) as { bytes: unknown } | null | undefined;
    return row ? toNumber(row.bytes) : undefined;
  }

  findInput(account: string, id: string, page: InputPage, after: number): KeptInput | undefined {
    const place = this.#placeById.get(account, id, after) as Place | null | undefined;
    if (!place) return undefined;
    const sequence = toNumber(place.sequence);
    const ids = (this.#inputIds.all(sequence) as { id: string }[]).map((row) => row.id);
    const found = pagePlaces(ids, page);
    if (found === undefined) return undefined;
    const items = found.places.map((position) => this.#itemAt.get(sequence, position) as Pick<ItemRow, "id" | "item">);
    return { items: items.map((row) => ({ id: row.id, json: row.item })), hasMore: found.hasMore };
  }

  /** @param kept - of an id that its account does not have. */
  insert(kept: KeptResponse, bytes: number, now: number): void {
    const { account, id, createdAt, previousResponseId, response, input, output } = kept;
    const values = [account, id, now, createdAt, previousResponseId ?? null, bytes, response] as const;
    const [row] = this.#insert.all(...values) as { sequence: unknown }[];
    const sequence = toNumber(row?.sequence);
    const insertItem = (item: KeptItem, position: number, isOutput: number) =>
      this.#insertItem.run(sequence, position, isOutput, account, item.id, item.json);
    for (const [index, item] of input.entries()) insertItem(item, index, 0);
    for (const [index, item] of output.entries()) insertItem(item, input.length + index, 1);
    this.#addBytes.run(account, bytes);
  }

  bytesOf(account: string): number {
    const row = this.#bytes.get(account) as { bytes: unknown } | null | undefined;
    return row ? toNumber(row.bytes) : 0;
  }

  /** @returns whether there was one. */
  delete(account: string, id: string, after: number): boolean {
    const place = this.#placeById.get(account, id, after) as Place | null | undefined;
    if (!place) return false;
    this.#deletePlace(place);
    return true;
  }

  /** The sequence of the newest response; 0 where the account has none. */
  newestOf(account: string): number {
    const row = this.#newest.get(account) as { sequence: unknown };
    return toNumber(row.sequence);
  }

  /** Deletes the account's oldest. @returns how many there were. */
  deleteOldest(account: string, most: number, upTo: number): number {
    return this.#deleteAll(this.#ofAccount.all(account, upTo, most) as Place[]);
  }

  deleteExpired(until: number, most: number): void {
    this.#deleteAll(this.#expired.all(until, most) as Place[]);
  }

  #deleteAll(places: readonly Place[]): number {
    for (const place of places) this.#deletePlace(place);
    return places.length;
  }

  #deletePlace({ sequence, account, bytes }: Place): void {
    this.#deleteItems.run(toNumber(sequence));
    this.#delete.run(toNumber(sequence));
    this.#addBytes.run(account, -toNumber(bytes));
    this.#deleteEmpty.run(account);
  }
}

/** What is there, by the ids that are asked for. */
function foundOf<Value>(ids: readonly string[], find: (id: string) => Value | undefined): Map<string, Value> {
  const found = new Map<string, Value>();
  for (const id of ids) {
    const value = find(id);
    if (value !== undefined) found.set(id, value);
  }
  return found;
}

/** A response as its table has it. */
interface ResponseRow {
  sequence: unknown;
  id: string;
  account: string;
  created_at: unknown;
  previous_id: string | null;
  bytes: unknown;
  response: string;
}

/** An item as its table has it. */
interface ItemRow {
  is_output: unknown;
  id: string;
  item: string;
}

function toKeptResponse(row: ResponseRow, items: readonly ItemRow[]): KeptResponse {
  const { id, account, response } = row;
  const itemsOf = (isOutput: number): KeptItem[] =>
    items.filter((item) => toNumber(item.is_output) === isOutput).map((item) => ({ id: item.id, json: item.item }));
  return {
    id,
    account,
    createdAt: toNumber(row.created_at),
    previousResponseId: row.previous_id ?? undefined,
    response,
    input: itemsOf(0),
    output: itemsOf(1),
  };
}
