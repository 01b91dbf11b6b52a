import {
  type AuditTrail,
  type Clock,
  type CreditLedger,
  hashKey,
  type ModelStore,
  type Plan,
  type RequestLog,
  type WritableAccountStore,
  type WritableBudgetStore,
  type WritableKeyStore,
  type WritablePlanStore,
} from "infergate";

/** All that a gateway keeps. */
export interface Stores {
  keys: WritableKeyStore;
  plans: WritablePlanStore;
  ledger: CreditLedger;
  accounts: WritableAccountStore;
  budgets: WritableBudgetStore;
  modelStore: ModelStore;
  /** MySQL keeps neither of these two. */
  requestLog?: RequestLog;
  audit?: AuditTrail;
  /** Closes the connections; after the gateway, which still settles. */
  close(): Promise<unknown> | unknown;
}

/**
 * Opens the stores that the environment names, which outlive the process: `DATABASE=sqlite:./gateway.db`, `REDIS_URL=redis://…`,
 * `DATABASE_URL=postgres://…` or `DATABASE_URL=mysql://…`. `undefined` when it names none.
 */
export async function openStores(environment: NodeJS.ProcessEnv): Promise<Stores | undefined> {
  const { DATABASE, REDIS_URL, DATABASE_URL } = environment;
  const file = /^sqlite:(?:\/\/)?(.+)$/.exec(DATABASE ?? "")?.[1];
  if (DATABASE && file === undefined) throw new Error("DATABASE must be a file, such as sqlite:./gateway.db");
  if (file !== undefined) return openSqlite(file);
  if (REDIS_URL) return openRedis(REDIS_URL);
  if (DATABASE_URL?.startsWith("mysql:")) return openMysql(DATABASE_URL);
  if (DATABASE_URL) return openPostgres(DATABASE_URL);
  return undefined;
}

async function openSqlite(file: string): Promise<Stores> {
  const { default: Database } = await import("libsql");
  const { sqliteStores } = await import("infergate/sqlite");
  const database = new Database(file);
  return withClose(sqliteStores({ database }), () => database.close());
}

async function openRedis(url: string): Promise<Stores> {
  const { Redis } = await import("ioredis");
  const { redisStores } = await import("infergate/redis");
  const client = new Redis(url);
  client.on("error", (error) => console.error(`Redis: ${error.message}`));
  return withClose(redisStores({ client }), () => client.quit());
}

async function openPostgres(connectionString: string): Promise<Stores> {
  const { default: pg } = await import("pg");
  const { postgresStores } = await import("infergate/postgres");
  const pool = new pg.Pool({ connectionString, query_timeout: 5_000 });
  pool.on("error", (error) => console.error(`PostgreSQL: ${error.message}`));
  return withClose(postgresStores({ pool }), () => pool.end());
}

async function openMysql(uri: string): Promise<Stores> {
  const { createPool } = await import("mysql2/promise");
  const { mysqlStores } = await import("infergate/mysql");
  const pool = createPool({ uri, connectTimeout: 5_000 });
  const stores = mysqlStores({ pool });
  const { accounts, budgets, modelStore } = stores;
  return { ...stores, accounts, budgets, modelStore, close: () => pool.end() };
}

/** Some of the stores are made when they are first asked for, and so are not spread. */
function withClose(stores: Omit<Required<Stores>, "close">, close: Stores["close"]): Stores {
  const { accounts, budgets, modelStore, requestLog, audit } = stores;
  return { ...stores, accounts, budgets, modelStore, requestLog, audit, close };
}

/** Puts in a plan, and a key for it unless an earlier start has. */
export async function seed(
  { keys, plans }: Pick<Stores, "keys" | "plans">,
  key: { key: string; account: string },
  plan: Plan,
  clock: Clock = { now: () => Date.now() },
): Promise<void> {
  await plans.put(plan);
  const hash = hashKey(key.key);
  if (await keys.find(hash)) return;
  const id = `key_${hash.slice(0, 12)}`;
  const hint = `${key.key.slice(0, 5)}…`;
  await keys.insert({ id, hash, hint, account: key.account, plan: plan.id, name: "Demo", createdAt: clock.now() });
}
