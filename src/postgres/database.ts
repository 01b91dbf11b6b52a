import type { PostgresPool } from "./postgres-pool.js";
import { isTransient, retryTransient } from "./retry-transient.js";
import { runMigrations } from "./run-migrations.js";
import { inSchema } from "./schema/in-schema.js";

/** Options of every PostgreSQL store. */
export interface PostgresOptions {
  /** The host's pool; the stores never end it. */
  pool: PostgresPool;
  /**
   * The schema that holds the stores' tables and functions, and nothing else: lower-case letters, digits and `_`.
   * Created when it is missing. Default: `infergate`.
   */
  schema?: string | undefined;
}

/** Of the parameters of a statement. */
type Values = readonly (string | number | null)[];

/** Of an object that was not there when a transaction of a stricter isolation began. */
const duplicates = new Set(["42P06", "42P07", "42710", "42723"]);
const isMadeMeanwhile = (code: string) => duplicates.has(code) || isTransient(code);

/** A pool and a schema in it, which is brought up to date before it is first used. */
export class Database {
  readonly pool: PostgresPool;
  readonly schema: string;
  #migrated: Promise<void> | undefined;

  /** @throws TypeError when an option is not valid. */
  constructor({ pool, schema = "infergate" }: PostgresOptions) {
    if (typeof pool?.query !== "function") throw new TypeError("`pool` must have a method `query`.");
    if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith("pg_")) {
      throw new TypeError(
        "`schema` must be 1 to 40 lower-case letters, digits and _, and not begin with a digit or pg_.",
      );
    }
    this.pool = pool;
    this.schema = schema;
  }

  /** Brings the schema up to date, once. */
  migrate(): Promise<void> {
    this.#migrated ??= retryTransient(() => runMigrations(this.pool, this.schema), isMadeMeanwhile).catch(
      (error: unknown) => {
        this.#migrated = undefined;
        throw error;
      },
    );
    return this.#migrated;
  }

  /**
   * Runs a statement that returns one column of JSON, as text. Numbers come as JSON rather than as int8, which drivers
   * return as text: so they are parsed here, exactly up to 2^53 − 1.
   *
   * @param isRetried - whether a statement that failed with this code is sent again. Default: failures that another
   * transaction caused.
   */
  async query<Row>(sql: string, values: Values, isRetried?: (code: string) => boolean): Promise<Row[]> {
    const rows = await this.#rows<{ json: string | null }>(sql, values, isRetried);
    return rows.map(({ json }) => (json === null ? null : JSON.parse(json)));
  }

  /**
   * Calls a procedure that returns all its rows in one array. The parameter that brings them has a name that is no key word of
   * any version of PostgreSQL: pg_dump writes it without quotes, and a newer server has to read that.
   */
  async call<Row>(sql: string, values: Values): Promise<Row[]> {
    const [row] = await this.#rows<{ results: string | null }>(sql, values);
    return row?.results ? JSON.parse(row.results) : [];
  }

  async #rows<Row>(sql: string, values: Values, isRetried?: (code: string) => boolean): Promise<Row[]> {
    await this.migrate();
    const { rows } = await retryTransient(() => this.pool.query(inSchema(sql, this.schema), [...values]), isRetried);
    return rows as Row[];
  }
}
