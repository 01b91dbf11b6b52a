import type { SqliteDatabase, SqliteStatement } from "../../../src/stores/sqlite/sqlite-database.js";

/** A real database, of which any one statement can be made to fail, or to be the process's last. */
export class FailingDatabase implements SqliteDatabase {
  readonly #database: SqliteDatabase;
  readonly #fail: (sql: string) => void;
  #left = Number.POSITIVE_INFINITY;

  /** @param fail - what happens in the place of the statement that is to fail: an error, or worse. */
  constructor(
    database: SqliteDatabase,
    fail: (sql: string) => void = (sql) => {
      throw new Error(`Not this one: ${sql}`);
    },
  ) {
    this.#database = database;
    this.#fail = fail;
  }

  /** Lets so many statements pass and fails the next. The end of a transaction is a statement too. */
  failAfter(statements: number): void {
    this.#left = statements;
  }

  /** @returns whether it has come to that. */
  stopFailing(): boolean {
    const hasFailed = this.#left < 0;
    this.#left = Number.POSITIVE_INFINITY;
    return hasFailed;
  }

  exec(sql: string): unknown {
    this.#count(sql);
    return this.#database.exec(sql);
  }

  prepare(sql: string): SqliteStatement {
    const statement = this.#database.prepare(sql);
    const counted =
      <Values extends unknown[], Result>(run: (...values: Values) => Result) =>
      (...values: Values): Result => {
        // That a rollback is not even tried is no failure of it.
        if (sql !== "ROLLBACK") this.#count(sql);
        return run(...values);
      };
    return {
      run: counted((...values) => statement.run(...values)),
      get: counted((...values) => statement.get(...values)),
      all: counted((...values) => statement.all(...values)),
    };
  }

  #count(sql: string): void {
    if (this.#left-- === 0) this.#fail(sql);
  }
}
