import { LockQueue } from "./lock-queue.js";
import { migrate } from "./migrate.js";
import type { SqliteDatabase, SqliteStatement } from "./sqlite-database.js";
import { useWriteAheadLog } from "./write-ahead-log.js";

/** The options of all SQLite stores. */
export interface SqliteOptions {
  /**
   * An open database with a file on a local disk. The stores create their tables in it, named `infergate_…`, and switch
   * it to write-ahead logging and a busy timeout of zero: they wait for other processes by themselves, for up to five
   * seconds, without keeping this one from its other work. They do not close it.
   */
  database: SqliteDatabase;
  /**
   * What a commit survives: `normal`, the end of the process at any moment; `full`, also the loss of power, for some
   * five times the time. Default: `normal`.
   */
  durability?: "normal" | "full" | undefined;
}

/** All that there are. */
export const knownSqliteOptions: Readonly<Record<keyof SqliteOptions, true>> = {
  database: true,
  durability: true,
};

const synchronous = { normal: "NORMAL", full: "FULL" };

const longestWaitMs = 5_000;

/** A database with the stores' settings and tables. */
export class SqliteConnection {
  readonly #database: SqliteDatabase;
  readonly #beginReading: SqliteStatement;
  readonly #commit: SqliteStatement;
  readonly #rollback: SqliteStatement;
  readonly #writes = new LockQueue(longestWaitMs);
  /** Apart from the connection that writes: a reader need not wait while another process writes. */
  readonly #reads = new LockQueue(longestWaitMs);

  /**
   * @throws TypeError when `database` is none; RangeError when `durability` is none.
   * @throws Error when the tables cannot be made, or were made by a newer release.
   */
  constructor({ database, durability = "normal" }: SqliteOptions) {
    if (typeof database?.exec !== "function" || typeof database.prepare !== "function") {
      throw new TypeError(
        "`database` must be an open database, such as new Database(file) of better-sqlite3 or new DatabaseSync(file) of node:sqlite.",
      );
    }
    if (!Object.hasOwn(synchronous, durability)) {
      throw new RangeError(`durability must be "normal" or "full", not ${JSON.stringify(durability)}.`);
    }
    this.#database = database;
    // First of all: what follows may have to wait for another process that does the same, and can only block meanwhile.
    database.exec(`PRAGMA busy_timeout = ${longestWaitMs}`);
    useWriteAheadLog(database);
    database.exec(`PRAGMA synchronous = ${synchronous[durability]}`);
    this.#beginReading = database.prepare("BEGIN");
    this.#commit = database.prepare("COMMIT");
    this.#rollback = database.prepare("ROLLBACK");
    migrate(this);
    database.exec("PRAGMA busy_timeout = 0");
  }

  prepare(sql: string): SqliteStatement {
    return this.#database.prepare(sql);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /**
   * Does what writes, in a transaction: at once, or as soon as no other process writes.
   * @throws as {@link LockQueue.run}.
   */
  write<Result>(work: () => Result): Result | Promise<Result> {
    return this.#writes.run(() => this.transaction(work));
  }

  /** Does what only reads: at once, unless another process keeps the database to itself. */
  read<Result>(work: () => Result): Result | Promise<Result> {
    return this.#reads.run(work);
  }

  /** Resolves when nothing waits for another process. */
  async idle(): Promise<void> {
    await Promise.all([this.#writes.idle(), this.#reads.idle()]);
  }

  /** Runs in a transaction that has the database's only write lock. */
  transaction<Result>(run: () => Result): Result {
    // At once, and not when the first write comes: two readers that both turn writers would be in each other's way. Not as
    // a prepared statement: where another process writes, some drivers leave one unfinished, and no later commit is one.
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = run();
      this.#commit.run();
      return result;
    } catch (error) {
      this.#tryRollback();
      throw error;
    }
  }

  /** Runs reading statements that see one state of the database, whatever other processes write meanwhile. */
  snapshot<Result>(read: () => Result): Result {
    this.#beginReading.run();
    try {
      return read();
    } finally {
      this.#tryRollback();
    }
  }

  /** After some errors, such as a full disk, SQLite itself has rolled back. */
  #tryRollback(): void {
    try {
      this.#rollback.run();
    } catch {}
  }
}
