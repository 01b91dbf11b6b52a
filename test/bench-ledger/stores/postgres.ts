import { randomUUID } from "node:crypto";
import pg from "pg";
import { reserveOperation, settleOperation } from "../../../src/stores/postgres/ledger/ledger-operation.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { hasPostgres, TemporaryServer } from "../../support/postgres-server.js";
import type { OpenStore, Pair } from "../benched-store.js";
import { amount, leaseMs, limitsNow, tags } from "../ledger-pair.js";

const connections = 32;

export const openPostgres: OpenStore = async () => {
  if (!hasPostgres) return undefined;
  // As a server is that keeps what it has acknowledged.
  const server = new TemporaryServer({ fsync: "on", jit: "on", shared_buffers: "256MB" });
  await server.create();
  const pool = new pg.Pool({ connectionString: server.url, max: connections });
  const ledger = postgresCreditLedger({ pool });
  await ledger.balance("nobody", limitsNow());
  return {
    ledger,
    inFlight: 64,
    raw: rawPair(pool),
    unbatched: unbatchedPair(pool),
    async bytesPerAccount(accounts) {
      await pool.query("vacuum full infergate.account");
      const { rows } = await pool.query("select pg_total_relation_size('infergate.account') as bytes");
      return Number(rows[0].bytes) / accounts;
    },
    async close() {
      await ledger.close();
      await pool.end();
      await server.remove();
    },
  };
};

/** The rows of a pair in the ledger's own tables. */
const reserveSql = `
with held as (
  insert into infergate.hold (id, account, reserved, held, first_expires_at, expires_at, starts, ends)
  values ($2, $1, $3, $3, $4, $4, $5, $5)
), made as (
  insert into infergate.account select (infergate.empty_account($1)).* on conflict do nothing
)
update infergate.account set session = session, week = week, month = month, next_expiry = next_expiry
where id = $1 returning to_jsonb(account)::text`;

const settleSql = `
with ended as (
  delete from infergate.hold where id = $2 returning *
), entered as (
  insert into infergate.entry (account, at, id, kind, amount, starts, tags, reserved, first_expires_at, ends)
  select account, $3, id, 'charge', reserved, starts, $4::text::jsonb, reserved, first_expires_at, ends from ended
)
update infergate.account set session = session, week = week, month = month, next_expiry = next_expiry
where id = $1 returning to_jsonb(account)::text`;

function rawPair(pool: pg.Pool): Pair {
  const json = JSON.stringify(tags);
  return async (account) => {
    const id = randomUUID();
    const now = Date.now();
    await pool.query(reserveSql, [account, id, amount, now + leaseMs, [now, now, now]]);
    await pool.query(settleSql, [account, id, now, json]);
  };
}

function unbatchedPair(pool: pg.Pool): Pair {
  const limits = limitsNow();
  const sql = "select answer::text as json from infergate.operate($1::text::jsonb) as answer";
  const operate = async (account: string, operation: unknown) => {
    const { rows } = await pool.query(sql, [JSON.stringify([{ account, operations: [operation] }])]);
    return JSON.parse(rows[0].json);
  };
  return async (account) => {
    const id = randomUUID();
    const { lease } = await operate(account, reserveOperation({ id, account, amountMicro: amount, limits, leaseMs }));
    const [session, week, month] = lease.starts;
    const [sessionEnd, weekEnd, monthEnd] = lease.ends;
    const starts = { session, week, month };
    const ends = { session: sessionEnd, week: weekEnd, month: monthEnd };
    const handle = { id, account, amountMicro: amount, limits, expiresAt: lease.expiresAt, starts, ends };
    const { status } = await operate(account, settleOperation(handle, { amountMicro: amount - 1, tags }, "charge"));
    if (status !== "settled") throw new Error(`A settlement of ${account} was ${status}.`);
  };
}
