import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import type { SqliteDatabase } from "../../../src/stores/sqlite/sqlite-database.js";

interface OpenDatabase extends SqliteDatabase {
  close(): unknown;
}

type Driver = new (file: string) => OpenDatabase;

/** The drivers that are at hand, each as hosts may have set it; Node has one of its own from 22.5 on. */
export const drivers: Readonly<Record<string, Driver>> = {
  libsql: Database,
  "libsql with BigInts": class extends Database {
    constructor(file: string) {
      super(file);
      this.defaultSafeIntegers(true);
    }
  },
  ...nodeDriver(),
};

function nodeDriver(): Record<string, Driver> {
  try {
    return { "node:sqlite": createRequire(import.meta.url)("node:sqlite").DatabaseSync };
  } catch {
    return {};
  }
}

/** A folder of its own for a database, and connections to that. */
export class DatabaseFolder {
  readonly folder = mkdtempSync(join(tmpdir(), "infergate-sqlite-"));
  readonly file = join(this.folder, "gateway.db");
  readonly #driver: Driver;
  readonly #open: OpenDatabase[] = [];

  constructor(driver: Driver = Database) {
    this.#driver = driver;
  }

  open(): OpenDatabase {
    const database = new this.#driver(this.file);
    this.#open.push(database);
    return database;
  }

  remove(): void {
    for (const database of this.#open) database.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
