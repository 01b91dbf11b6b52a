import { Buffer } from "node:buffer";

/** Where all is kept. */
export interface MysqlOptions {
  /** The host's own pool of `mysql2`, at a server that writes, with `autocommit` on. It is never closed here. */
  pool: MysqlPool;
  /** What the names of the tables begin with: 1 to 32 letters, digits and underscores. Default: `infergate_`. */
  prefix?: string | undefined;
}

const attempts = 5;
const firstPauseMs = 5;

const newestVersion = 1;
const noSuchTable = 1146;
const deadlock = 1213;
const lockTimeOut = 1205;
/** Of a key that another transaction has just brought. The next attempt sees it. */
const duplicateKey = 1062;
const transient: ReadonlySet<unknown> = new Set([deadlock, lockTimeOut, duplicateKey]);

/** Whether a key was there already. */
export function isDuplicate(error: unknown): boolean {
  return errorOf(error).errno === duplicateKey;
}

/** Whether the server has waited long enough for what another transaction has locked. */
export function isLockTimeOut(error: unknown): boolean {
  return errorOf(error).errno === lockTimeOut;
}

/** A host's pool, with the tables that the stores keep there. */
export class MysqlDatabase {
  readonly prefix: string;
  readonly #pool: MysqlPool;
  readonly #tables: readonly string[];
  #ready: Promise<void> | undefined;

  /** @param tables - what stands behind the prefix where one is made. */
  constructor({ pool, prefix = "infergate_" }: MysqlOptions, tables: readonly string[]) {
    if (!isMysqlPool(pool)) throw new TypeError("mysqlStores: pool must be a pool of mysql2: createPool(…).");
    if (!/^[A-Za-z0-9_]{1,32}$/.test(prefix)) {
      throw new TypeError("mysqlStores: prefix must be 1 to 32 letters, digits and underscores.");
    }
    this.prefix = prefix;
    this.#pool = pool;
    this.#tables = [...tables, "migration (version int primary key)"];
  }

  /** Makes the tables that are not there. */
  migrate(): Promise<void> {
    this.#ready ??= this.#makeTables().catch((error) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Runs one statement that reads. */
  async read<Value>(run: (connection: MysqlConnection) => Promise<Value>): Promise<Value> {
    await this.migrate();
    return this.#again(run);
  }

  /** Runs statements that are a transaction, and do nothing else: it may be run again. */
  async write<Value>(run: (connection: MysqlConnection) => Promise<Value>): Promise<Value> {
    await this.migrate();
    return this.#again(async (connection, state) => {
      await runSql(connection, "set transaction isolation level read committed");
      await runSql(connection, "start transaction");
      const value = await run(connection);
      state.isCommitting = true;
      await runSql(connection, "commit");
      return value;
    });
  }

  /** A user who may make no tables goes on with those that there are. */
  async #makeTables(): Promise<void> {
    await this.#again(async (connection) => {
      await requireAutocommit(connection);
      const version = await versionOf(connection, this.prefix);
      if (version > newestVersion) {
        throw new Error(`The tables are of a newer release (version ${version}). Update this process.`);
      }
      if (version === newestVersion) return;
      for (const table of this.#tables) {
        await runSql(
          connection,
          `create table if not exists ${this.prefix}${table} engine = InnoDB row_format = dynamic`,
        );
      }
      await runSql(connection, `insert ignore into ${this.prefix}migration values (${newestVersion})`);
      await runSql(connection, "commit");
    });
  }

  /** Runs it again where it is known that nothing was done. */
  async #again<Value>(
    run: (connection: MysqlConnection, state: { isCommitting: boolean }) => Promise<Value>,
  ): Promise<Value> {
    for (let attempt = 1; ; attempt++) {
      const connection = await takeConnection(this.#pool);
      const state = { isCommitting: false };
      try {
        const value = await run(connection, state);
        connection.release();
        return value;
      } catch (error) {
        await rollBack(connection, error);
        const { errno } = errorOf(error);
        // The server itself says of a deadlock that nothing was committed. Else what came of a commit is not known.
        const isUndone = state.isCommitting ? errno === deadlock : transient.has(errno) || isLost(error);
        if (!isUndone || attempt === attempts) throw error;
        await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** attempt * Math.random()));
      }
    }
  }
}

/** Without it, a connection of the pool reads what was when it began to read. */
async function requireAutocommit(connection: MysqlConnection): Promise<void> {
  const [row] = await runSql(connection, "select @@session.autocommit");
  if (Number(row?.[0]) !== 1) {
    throw new Error("The pool's connections have autocommit off, so that they read what was. Switch it on.");
  }
}

/** Of the tables. 0: not all are there. */
async function versionOf(connection: MysqlConnection, prefix: string): Promise<number> {
  try {
    const [row] = await runSql(connection, `select max(version) from ${prefix}migration`);
    return Number(row?.[0]);
  } catch (error) {
    if (errorOf(error).errno !== noSuchTable) throw error;
    return 0;
  }
}

/** Puts the connection back as it was. Where that fails it is closed, and the server rolls back. */
async function rollBack(connection: MysqlConnection, error: unknown): Promise<void> {
  try {
    if (isLost(error)) throw error;
    await runSql(connection, "rollback");
    connection.release();
  } catch {
    connection.destroy();
  }
}

/** Whether the connection has ended, or says nothing any more. */
function isLost(error: unknown): boolean {
  const { code, fatal } = errorOf(error);
  return fatal === true || code === "PROTOCOL_SEQUENCE_TIMEOUT";
}

function errorOf(error: unknown): { errno?: unknown; code?: unknown; fatal?: unknown } {
  return typeof error === "object" && error !== null ? error : {};
}

/** What the stores need of a pool of `mysql2/promise`. */
export interface MysqlPromisePool {
  getConnection(): Promise<MysqlConnection>;
}

/** What the stores need of a pool of plain `mysql2`. */
export interface MysqlCallbackPool {
  promise(): MysqlPromisePool;
}

/**
 * The host's own pool of `mysql2`, with promises or with callbacks. It is used as it is, and never closed. Its connections must
 * reach the server that writes: a replica is behind.
 */
export type MysqlPool = MysqlPromisePool | MysqlCallbackPool;

/** A connection of a {@link MysqlPool}. */
export interface MysqlConnection {
  query(options: {
    sql: string;
    rowsAsArray: true;
    typeCast: true;
    nestTables: false;
    timeout: number;
  }): Promise<[unknown, unknown]>;
  /** Puts it back into the pool. */
  release(): void;
  destroy(): void;
}

function isMysqlPool(pool: unknown): pool is MysqlPool {
  return typeof (pool as Partial<MysqlPromisePool> | null | undefined)?.getConnection === "function";
}

/** Takes a connection out of a pool of either kind. */
function takeConnection(pool: MysqlPool): Promise<MysqlConnection> {
  return "promise" in pool ? pool.promise().getConnection() : pool.getConnection();
}

/** So long may a server say nothing, in milliseconds. Then the connection is taken for dead. */
const mostSilentMs = 5_000;
/** The same for statements that read a lot. */
export const mostReadingMs = 60_000;

/** @returns rows of columns, whatever the pool's options say. */
export async function runSql(
  connection: MysqlConnection,
  sql: string,
  timeout = mostSilentMs,
): Promise<readonly (readonly unknown[])[]> {
  const [rows] = await connection.query({ sql, rowsAsArray: true, typeCast: true, nestTables: false, timeout });
  return rows as unknown[][];
}

/** @returns how many rows it has deleted. */
export async function changeCount(connection: MysqlConnection, sql: string): Promise<number> {
  return ((await runSql(connection, sql)) as unknown as { affectedRows: number }).affectedRows;
}

/** A value of a row that is written: a text, or a safe integer. */
export type SqlValue = string | number | null | undefined;

/** So many characters of rows are one statement: far below the least `max_allowed_packet` of any server. */
const mostCharacters = 500_000;

/** The database's clock, in epoch milliseconds: of no time zone, and of the statement's beginning. */
export const clockSql = "(timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000)";

/**
 * A value in SQL. Texts are bytes in hexadecimal digits: whatever a connection's character set, collation and `sql_mode` are,
 * they mean the same.
 */
export function literal(value: SqlValue): string {
  if (value === undefined || value === null) return "null";
  return typeof value === "number" ? String(value) : `x'${Buffer.from(value).toString("hex")}'`;
}

/** Rows as a list of `values`, in pieces that a statement can take. */
export function valueLists(rows: readonly (readonly SqlValue[])[]): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const row of rows) {
    const values = `(${row.map(literal).join(",")})`;
    if (piece !== "" && piece.length + values.length > mostCharacters) {
      pieces.push(piece);
      piece = "";
    }
    piece += piece === "" ? values : `,${values}`;
  }
  if (piece !== "") pieces.push(piece);
  return pieces;
}

/**
 * Rows as a table to join with. From one a plan goes by whole keys and in the order of the rows, however many others there are;
 * from an `in (…)` it may go through all of a table, and wait for what others have locked.
 *
 * @param columns - the names of texts.
 */
export function rowsTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const types = columns.map((name, index) => `${name} varchar(512) character set utf8mb4 path '$[${index}]'`);
  return `json_table(convert(${literal(JSON.stringify(rows))} using utf8mb4), '$[*]' columns (${types.join(", ")}))`;
}
