import { Redis } from "ioredis";
import Database from "libsql";
import pg from "pg";
import type { WritableBudgetStore } from "../../src/budgets/budget-store.js";
import type { ModelStore } from "../../src/models/model-store.js";
import { postgresStores } from "../../src/postgres/postgres-stores.js";
import { redisStores } from "../../src/redis/redis-stores.js";
import { sqliteStores } from "../../src/sqlite/sqlite-stores.js";

/** The budgets and models of the store that the environment names. */
export async function openCatalog(environment: NodeJS.ProcessEnv): Promise<{
  readonly budgets: WritableBudgetStore;
  readonly catalog: ModelStore;
  readonly close: () => Promise<unknown> | unknown;
}> {
  const { DATABASE, REDIS_URL, DATABASE_URL } = environment;
  if (DATABASE) {
    const database = new Database(DATABASE.slice("sqlite:".length));
    const { budgets, catalog } = sqliteStores({ database });
    return { budgets, catalog, close: () => database.close() };
  }
  if (REDIS_URL) {
    const client = new Redis(REDIS_URL);
    const { budgets, catalog } = redisStores({ client });
    return { budgets, catalog, close: () => client.quit() };
  }
  const pool = new pg.Pool({ connectionString: DATABASE_URL });
  const { budgets, catalog } = postgresStores({ pool });
  return { budgets, catalog, close: () => pool.end() };
}
