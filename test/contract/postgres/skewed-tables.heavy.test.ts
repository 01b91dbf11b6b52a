import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

const limits = windowLimits({
  credits: { session: null, week: 1e9, month: 1e9 },
  sessionMs: 3_600_000,
  now: Date.now(),
});
const calls = 2_000;
/** How often the journal of the large account is repeated. */
const copies = 60;
const largest = calls * (copies + 1);
/** What an operation may read of all tables, in rows. */
const mostRead = 300;

/** Whatever the planner believes, an operation on an account reads what is its own, and of that no more than it needs. */
describeWithPostgres("a journal of which one account has nearly all", (server) => {
  let pool: pg.Pool;
  let ledger: CreditLedger;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url, max: 4 });
    ledger = postgresCreditLedger({ pool });
    await Promise.all(Array.from({ length: calls }, (_, index) => call(ledger, "large", `large-${index}`)));
    await Promise.all(Array.from({ length: 200 }, (_, index) => call(ledger, `small-${index % 20}`, `small-${index}`)));
  }, 120_000);
  afterAll(() => pool.end());

  it.each([
    ["that the planner knows nothing of", false],
    ["that the planner knows", true],
  ])("reads a few rows for each operation, in tables %s", async (_name, isKnown) => {
    if (isKnown) {
      await copyJournal(pool);
      await pool.query("analyze");
    }
    for (const account of ["small-7", "large", "new"]) {
      const id = `${account} ${isKnown}`;
      const steps: Record<string, (on: CreditLedger) => Promise<unknown>> = {
        "reserve and settle": (on) => call(on, account, id),
        "a repetition": (on) => call(on, account, id),
        balance: (on) => on.balance(account, limits),
        history: (on) => on.history?.({ account, limit: 10 }) ?? Promise.reject(new Error("It has none.")),
      };
      for (const [name, step] of Object.entries(steps)) {
        expect({ account, name, isFew: (await rowsRead(pool, step)) < mostRead }).toEqual({
          account,
          name,
          isFew: true,
        });
      }
    }
  });

  it("would notice one that reads the whole journal", async () => {
    const read = await rowsRead(pool, (_ledger, client) => client.query("select count(kind) from infergate.entry"));
    expect(read).toBeGreaterThanOrEqual(largest);
  });
});

async function call(ledger: CreditLedger, account: string, id: string): Promise<void> {
  const reserved = await ledger.reserve({ id, account, amountMicro: 10, limits, leaseMs: 600_000 });
  if (!reserved.ok) throw new Error("There are credits left.");
  await ledger.settle(reserved.lease, { amountMicro: 7, tags: { model: "acme/small" } });
}

/**
 * How many rows of the ledger's tables it reads, all in one transaction, which is undone. What is done behind operations
 * elsewhere, an isolate leaves to sweeps.
 */
async function rowsRead(
  pool: pg.Pool,
  step: (ledger: CreditLedger, client: pg.PoolClient) => Promise<unknown>,
): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    // Of the operations before, too, whose counts this connection has not told the server yet.
    const before = await allRead(client);
    await step(
      postgresCreditLedger({
        pool: { query: (text, values) => client.query(text, values && [...values]) },
        isolate: true,
      }),
      client,
    );
    return (await allRead(client)) - before;
  } finally {
    await client.query("rollback");
    client.release();
  }
}

async function allRead(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ read: string | null }>(
    "select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as read from pg_stat_xact_user_tables where schemaname = 'infergate'",
  );
  return Number(rows[0]?.read ?? 0);
}

/** Repeats the entries of the large account, each copy a millisecond later. */
async function copyJournal(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    "select column_name as name from information_schema.columns where table_schema = 'infergate' and table_name = 'entry' and is_identity = 'NO' and column_name not in ('id', 'at')",
  );
  const others = rows.map(({ name }) => name).join(", ");
  await pool.query(
    `insert into infergate.entry (id, at, ${others}) select id || '-' || n, at + n, ${others} from infergate.entry, generate_series(1, ${copies}) n where id like 'large-%'`,
  );
}
