import { Database } from "../../../src/postgres/database.js";
import { Notifications } from "../../../src/postgres/listen/notifications.js";
import type { PostgresPool } from "../../../src/postgres/postgres-pool.js";
import { inSchema } from "../../../src/postgres/schema/in-schema.js";
import { PostgresStorage } from "../../../src/postgres/storage/postgres-storage.js";
import { storageFunctions } from "../../../src/postgres/storage/storage-functions.js";
import { storageTables, sumTables } from "../../../src/postgres/storage/storage-tables.js";
import type { CaredStorage, Sizes } from "../../ledger/storage/describe-storage-care.js";

/** Makes the tables and functions of a storage in a schema. */
export async function createStorage(pool: PostgresPool, schema: string): Promise<void> {
  for (const sql of [...storageTables, ...storageFunctions]) await pool.query(inSchema(sql, schema));
}

/** A storage with what tests see of it. */
export class MeasuredStorage extends PostgresStorage implements CaredStorage {
  readonly #pool: PostgresPool;
  readonly #schema: string;

  /** @param listening - the pool of which a connection listens. */
  constructor(pool: PostgresPool, schema: string, listening: PostgresPool) {
    super(pool, schema, new Notifications(new Database({ pool: listening, schema })));
    this.#pool = pool;
    this.#schema = schema;
  }

  async sizes(account: string): Promise<Sizes> {
    const count = (from: string) => `(select count(*)::int from infergate.${from} where account = $1)`;
    const [days, quarters] = sumTables.map(({ table }) =>
      count(`${table} join infergate.kept_sum_name using (digest)`),
    );
    const sql = `select ${count("kept_entry")} as entries, ${count("kept_hold")} as holds,
      ${count("kept_record")} + (select count(*)::int from infergate.kept_account where id = $1) as records,
      ${days} as days, ${quarters} as quarters`;
    const { rows } = await this.#pool.query(inSchema(sql, this.#schema), [account]);
    return rows[0] as Sizes;
  }

  async counters(account: string, name: string): Promise<readonly number[] | undefined> {
    const [loaded] = await this.load([{ account, names: [name], entries: [] }]);
    return loaded?.records.get(name)?.counters;
  }
}
