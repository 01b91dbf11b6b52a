import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";

/** A folder of its own for a database, and connections to that. */
export class DatabaseFolder {
  readonly folder = mkdtempSync(join(tmpdir(), "infergate-sqlite-"));
  readonly file = join(this.folder, "gateway.db");
  readonly #open: Database.Database[] = [];

  open(): Database.Database {
    const database = new Database(this.file);
    this.#open.push(database);
    return database;
  }

  remove(): void {
    for (const database of this.#open) database.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
