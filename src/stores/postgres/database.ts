import { requireBooleans } from "../../check/known-options.js";
import { LedgerInputError, LedgerUnavailableError } from "../../ledger/credit-ledger.js";
import { isIsolate } from "../../runtime/runtime.js";
import type { PostgresPool } from "./postgres-pool.js";
import { inSchema, runMigrations } from "./schema/run-migrations.js";

/** Options of every PostgreSQL store. */
export interface PostgresOptions {
  /** The host's pool; the stores never end it. */
  pool: PostgresPool;
  /**
   * The schema that holds the stores' tables and functions, and nothing else: lower-case letters, digits and `_`.
   * Created when it is missing. Default: `infergate`.
   */
  schema?: string | undefined;
  /**
   * Whether the stores listen to what other processes change, on a connection of their own. `false`: changes by others take
   * effect when caches forget. Default: `true`, where the pool can listen, and `false` in an isolate.
   */
  listen?: boolean | undefined;
  /**
   * Whether no request may wait for what another one has begun, as in Cloudflare's Workers: there, a promise, a timer and a
   * socket end with the request that made them. `true`: each operation is a statement of its own, which nothing else shares,
   * nothing goes on behind it, and the stores do not listen. What is older than the retention is dropped by `sweep` alone.
   * Default: `true` in Cloudflare's Workers, else `false`.
   */
  isolate?: boolean | undefined;
}

/** All that there are. */
export const knownPostgresOptions: Readonly<Record<keyof PostgresOptions, true>> = {
  pool: true,
  schema: true,
  listen: true,
  isolate: true,
};

/** Of the parameters of a statement. */
type Values = readonly (string | number | null)[];

/** Of an object that was not there when a transaction of a stricter isolation began. */
const duplicates = new Set(["42P06", "42P07", "42710", "42723"]);
const isMadeMeanwhile = (code: string) => duplicates.has(code) || isTransient(code);

/** A pool and a schema in it, which is brought up to date before it is first used. */
export class Database {
  readonly pool: PostgresPool;
  readonly schema: string;
  readonly isolate: boolean;
  /** Whether the host lets the stores listen, and its pool might. */
  readonly listens: boolean;
  #isMigrated = false;
  /** Under way for all that wait for it. */
  #migrating: Promise<void> | undefined;

  /** @throws TypeError when an option is not valid. */
  constructor({ pool, schema = "infergate", listen = true, isolate = isIsolate }: PostgresOptions) {
    if (typeof pool?.query !== "function") throw new TypeError("`pool` must have a method `query`.");
    requireBooleans({ listen, isolate });
    if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith("pg_")) {
      throw new TypeError(
        "`schema` must be 1 to 40 lower-case letters, digits and _, and not begin with a digit or pg_.",
      );
    }
    this.pool = pool;
    this.schema = schema;
    this.isolate = isolate;
    this.listens = listen && !isolate && pool.listen !== false && !isOverHttp(pool);
  }

  /** Brings the schema up to date, once. In an isolate, each that finds it not done does it itself. */
  async migrate(): Promise<void> {
    if (this.#isMigrated) return;
    if (this.isolate) {
      await this.#migrate();
      return;
    }
    this.#migrating ??= this.#migrate().finally(() => {
      this.#migrating = undefined;
    });
    await this.#migrating;
  }

  async #migrate(): Promise<void> {
    await retryTransient(() => runMigrations(this.pool, this.schema), isMadeMeanwhile);
    this.#isMigrated = true;
  }

  /**
   * Runs a statement that returns one column of JSON, as text. Numbers come as JSON rather than as int8, which drivers
   * return as text: so they are parsed here, exactly up to 2^53 − 1.
   *
   * @param isRetried - whether a statement that failed with this code is sent again. Default: failures that another
   * transaction caused.
   */
  async query<Row>(sql: string, values: Values, isRetried?: (code: string) => boolean): Promise<Row[]> {
    const rows = await this.rows<{ json: string | null }>(sql, values, isRetried);
    return rows.map(({ json }) => (json === null ? null : JSON.parse(json)));
  }

  /**
   * Calls a procedure that returns all its rows in one array. The parameter that brings them has a name that is no key word of
   * any version of PostgreSQL: pg_dump writes it without quotes, and a newer server has to read that.
   */
  async call<Row>(sql: string, values: Values): Promise<Row[]> {
    const [row] = await this.rows<{ results: string | null }>(sql, values);
    return row?.results ? JSON.parse(row.results) : [];
  }

  /** Runs a statement whose columns are texts, or whole numbers in whatever form the driver has them. */
  async rows<Row>(sql: string, values: Values, isRetried?: (code: string) => boolean): Promise<Row[]> {
    if (!this.#isMigrated) await this.migrate();
    const { rows } = await retryTransient(() => this.pool.query(inSchema(sql, this.schema), [...values]), isRetried);
    if (!Array.isArray(rows)) {
      throw new TypeError(
        "The pool's `query` must resolve with `{ rows }`. Neon's driver does so with `neon(url, { fullResults: true })`.",
      );
    }
    return rows as Row[];
  }
}

/** A function with a method `query`, as `neon(url)` is one: each statement is a request, and nothing can listen. */
function isOverHttp(pool: PostgresPool): boolean {
  return pool instanceof Function && pool.connect === undefined && pool.listen === undefined;
}

const serializationFailure = "40001";
const isOther = (code: string) => code !== serializationFailure && isTransient(code);

/**
 * Runs statements in READ COMMITTED transactions, whatever the default is: there, those that change an account wait for each
 * other; in a stricter one all but one of them fail. Most databases have that default, so it is not set until a statement
 * has failed for the lack of it.
 */
export class ReadCommitted {
  readonly #database: Database;
  #isToBeSet = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * @param plain - a statement that returns its rows.
   * @param procedure - the call of a procedure that sets the isolation, and returns the same rows in one array.
   */
  async query<Row>(plain: string, procedure: string, values: (string | number | null)[]): Promise<Row[]> {
    if (!this.#isToBeSet) {
      try {
        return await this.#database.query<Row>(plain, values, isOther);
      } catch (error) {
        if (sqlState(error) !== serializationFailure) throw error;
        this.#isToBeSet = true;
      }
    }
    return this.#database.call<Row>(procedure, values);
  }
}

const attempts = 5;
const firstPauseMs = 5;

/** Serialization failure, deadlock, and a key that another transaction has just inserted: the next attempt sees it. */
const duplicateKey = "23505";
const transient = new Set(["40001", "40P01", duplicateKey]);

function isTransient(code: string): boolean {
  return transient.has(code);
}

/** Runs a statement that is a transaction of its own, again if it lost to another one. */
async function retryTransient<Result>(statement: () => Promise<Result>, isRetried = isTransient): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await statement();
    } catch (error) {
      const code = sqlState(error);
      if (code === undefined || !isRetried(code) || attempt === attempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** attempt * Math.random()));
    }
  }
}

/** Whether a key is there already, also after the last attempt. */
export function isDuplicateKey(error: unknown): boolean {
  return sqlState(error) === duplicateKey;
}

/** PostgreSQL's code for the error; `undefined` for an error of another origin. */
function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/**
 * Runs a statement of the ledger.
 * @throws LedgerInputError when the database refuses a value, else LedgerUnavailableError with the `cause`.
 */
export async function runStatement<Result>(statement: () => Promise<Result>): Promise<Result> {
  try {
    return await statement();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    // Class 22: data exception.
    if (sqlState(cause)?.startsWith("22")) {
      throw new LedgerInputError(`PostgreSQL refused a value: ${message}`, { cause });
    }
    throw new LedgerUnavailableError(`PostgreSQL failed: ${message}`, { cause });
  }
}
