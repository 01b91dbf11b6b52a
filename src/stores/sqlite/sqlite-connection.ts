import { setImmediate, setTimeout } from "node:timers/promises";
import { isLocked, migrate, type SqliteDatabase, type SqliteStatement, useWriteAheadLog } from "./sqlite-database.js";

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

interface Waiting {
  readonly work: () => unknown;
  readonly until: number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Most locks are gone within a millisecond; a backup or a migration holds one for seconds. */
const pausesMs = [0, 1, 1, 2, 2, 5, 5, 10, 10];
const longestPauseMs = 20;
/** As much is done without a break: after it, the process attends to its other work. */
const worksPerTurn = 64;

/**
 * Does work in a database that another process may have locked: at once where it can, else as soon as the lock is gone.
 * SQLite's own way of waiting would block the process for as long. What waits is done in its order, one after the other.
 */
export class LockQueue {
  readonly #longestWaitMs: number;
  readonly #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;

  constructor(longestWaitMs: number) {
    this.#longestWaitMs = longestWaitMs;
  }

  /**
   * @param work - does all or nothing, as it is done again from its beginning.
   * @returns a promise only where it has to wait.
   * @throws what the work throws, and SQLite's error after it has waited for too long.
   */
  run<Result>(work: () => Result): Result | Promise<Result> {
    if (this.#waiting.length === 0) {
      try {
        return work();
      } catch (error) {
        if (!isLocked(error)) throw error;
      }
    }
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.#longestWaitMs;
      this.#waiting.push({ work, until, resolve: resolve as (result: unknown) => void, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async #drain(): Promise<void> {
    for (let attempt = 0; this.#waiting.length > 0; attempt++) {
      const pauseMs = pausesMs[attempt] ?? longestPauseMs;
      // Not all processes at the same moment.
      await (pauseMs === 0 ? setImmediate() : setTimeout(pauseMs * (0.5 + Math.random() / 2)));
      if (this.#doSome()) attempt = -1;
    }
    // In the same step: what comes later, even as the next callback, begins anew.
    this.#draining = undefined;
  }

  /** @returns whether the database was free. */
  #doSome(): boolean {
    const some = this.#waiting.slice(0, worksPerTurn);
    let done = 0;
    let isFree = true;
    for (const { work, until, resolve, reject } of some) {
      try {
        resolve(work());
      } catch (error) {
        isFree = !isLocked(error);
        // Rejects those that have waited for long enough; the others wait on.
        if (!isFree && performance.now() < until) break;
        reject(error);
      }
      done++;
    }
    this.#waiting.splice(0, done);
    return isFree;
  }
}
