import type { PostgresPool } from "../../../src/postgres/postgres-pool.js";
import { inSchema } from "../../../src/postgres/schema/in-schema.js";
import { PostgresStorage } from "../../../src/postgres/storage/postgres-storage.js";
import { storageFunctions } from "../../../src/postgres/storage/storage-functions.js";
import { storageTables } from "../../../src/postgres/storage/storage-tables.js";
import type { JournalLine } from "../../ledger/storage/memory-storage.js";
import type { StorageBooks } from "../../ledger/storage/storage-fixture.js";

/** Makes the tables of a storage in a schema. */
export async function createStorageTables(pool: PostgresPool, schema: string): Promise<void> {
  for (const sql of [...storageTables, ...storageFunctions]) await pool.query(inSchema(sql, schema));
}

/** A storage with what tests read of it. */
export class PostgresBooks extends PostgresStorage implements StorageBooks {
  readonly #pool: PostgresPool;
  readonly #schema: string;

  constructor(pool: PostgresPool, schema: string) {
    super(pool, schema);
    this.#pool = pool;
    this.#schema = schema;
  }

  async lines(): Promise<readonly JournalLine[]> {
    const { rows } = await this.#pool.query(`select * from ${this.#schema}.kept_entry order by sequence`);
    return (rows as Record<string, unknown>[]).map((row) => ({
      account: String(row["account"]),
      at: Number(row["at"]),
      key: undefined,
      kind: row["kind"] as JournalLine["kind"],
      id: String(row["id"]),
      amountMicro: Number(row["amount"]),
      prepaidMicro: Number(row["prepaid"]),
      starts: JSON.parse(String(row["starts"])),
      tags: row["tags"] === null ? undefined : JSON.parse(String(row["tags"])),
      expiresAt: undefined,
      receipt: undefined,
    }));
  }

  async forget(account: string): Promise<void> {
    for (const table of ["kept_record", "kept_hold", "kept_entry"]) {
      await this.#pool.query(`delete from ${this.#schema}.${table} where account = $1`, [account]);
    }
    await this.#pool.query(`delete from ${this.#schema}.kept_account where id = $1`, [account]);
    await this.#pool.query(
      `insert into ${this.#schema}.kept_forgotten values ($1, ${this.#schema}.clock_ms())
      on conflict (account) do update set at = greatest(kept_forgotten.at, excluded.at)`,
      [account],
    );
  }
}
