import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import {
  type CreditLedger,
  type Lease,
  LedgerInputError,
  LedgerUnavailableError,
} from "../../../../src/ledger/credit-ledger.js";
import { postgresCreditLedger } from "../../../../src/stores/postgres/postgres-credit-ledger.js";
import type { PostgresPool } from "../../../../src/stores/postgres/postgres-pool.js";
import { runMigrations } from "../../../../src/stores/postgres/schema/run-migrations.js";
import { journalOf } from "../../../support/journal-of.js";
import { describeWithPostgres } from "../../../support/postgres-server.js";

const leaseMs = 60_000;
const credits = { session: null, week: null, month: null };
const limits = () => windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });

function request(account: string, id: string = randomUUID()) {
  return { id, account, amountMicro: 10, limits: limits(), leaseMs };
}

async function admit(ledger: CreditLedger, account: string, id?: string): Promise<Lease> {
  const result = await ledger.reserve(request(account, id));
  if (!result.ok) throw new Error("Nothing is limited here.");
  return result.lease;
}

/** Names that no other test has. */
function names(count: number): string[] {
  const scope = randomUUID();
  return Array.from({ length: count }, (_, index) => `${scope}-${String(index).padStart(5, "0")}`);
}

function isOperation(sql: string): boolean {
  return sql.startsWith("select answer::text as json from infergate.operate(");
}

/** The operations of each statement that goes through, by account. */
class Watched implements PostgresPool {
  readonly statements: Record<string, number>[] = [];
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  query(text: string, values: unknown[] = []): Promise<{ rows: unknown[] }> {
    if (isOperation(text)) {
      const batches = JSON.parse(String(values[0])) as { account: string; operations: unknown[] }[];
      this.statements.push(Object.fromEntries(batches.map(({ account, operations }) => [account, operations.length])));
    }
    return this.#pool.query(text, values);
  }
}

describeWithPostgres("PostgreSQL, batches", (server) => {
  const open: { end(): Promise<unknown> }[] = [];
  function openPool(max = 8): pg.Pool {
    const pool = new pg.Pool({ connectionString: server.url, max });
    pool.on("error", () => {});
    open.push(pool);
    return pool;
  }
  /** Holds the rows of accounts until it commits. */
  async function lock(accounts: string[]): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: server.url });
    client.on("error", () => {});
    await client.connect();
    open.push(client);
    await client.query("begin");
    await client.query("select from infergate.account where id = any ($1) for update", [accounts]);
    return client;
  }
  async function waiters(pool: pg.Pool, count: number): Promise<number[]> {
    return await vi.waitFor(
      async () => {
        const { rows } = await pool.query("select distinct pid from pg_locks where not granted");
        expect(rows).toHaveLength(count);
        return rows.map(({ pid }) => pid);
      },
      { timeout: 10_000 },
    );
  }
  async function balances(ledger: CreditLedger, accounts: string[]): Promise<[used: number, held: number][]> {
    const all = await Promise.all(accounts.map((account) => ledger.balance(account, limits())));
    return all.map(({ windows: { week } }) => [week.usedMicro, week.heldMicro]);
  }

  beforeEach(() => runMigrations(openPool(1), "infergate"));
  afterEach(() => Promise.all(open.splice(0).map((each) => each.end())));

  it("puts the operations of many accounts in few statements, each with its own answer", async () => {
    const pool = new Watched(openPool());
    const ledger = postgresCreditLedger({ pool });
    const accounts = names(64);
    const leases = await Promise.all(accounts.map((account) => admit(ledger, account)));
    expect(leases.map(({ account }) => account)).toEqual(accounts);
    expect(pool.statements.map((statement) => Object.keys(statement).length)).toEqual([32, 32]);
    await Promise.all(leases.map((lease, index) => ledger.settle(lease, { amountMicro: index % 7 })));
    expect(pool.statements).toHaveLength(4);
    expect(await balances(ledger, accounts)).toEqual(accounts.map((_, index) => [index % 7, 0]));
  });

  it("has an account in statements of its own where batches are off", async () => {
    const pool = new Watched(openPool());
    const ledger = postgresCreditLedger({ pool, batch: false });
    const accounts = names(20);
    await Promise.all([...accounts, ...accounts].map((account) => admit(ledger, account)));
    expect(pool.statements.map((statement) => Object.values(statement))).toEqual(accounts.map(() => [2]));
  });

  it("works on a pool of one connection, renewals, forgetting and the end of the ledger with it", async () => {
    const ledger = postgresCreditLedger({ pool: openPool(1), batch: { operations: 5, inFlight: 4 } });
    const accounts = names(30);
    const spend = async (account: string) => {
      const lease = await admit(ledger, account);
      expect(await ledger.renew([{ lease, observedMicro: 2, leaseMs }])).toEqual(["renewed"]);
      expect((await ledger.settle(lease, { amountMicro: 3 })).status).toBe("settled");
    };
    await Promise.all([...accounts, ...accounts].map(spend));
    expect(await balances(ledger, accounts)).toEqual(accounts.map(() => [6, 0]));
    await Promise.all(accounts.slice(1).map((account) => ledger.forget(account)));
    await ledger.close();
    expect(await balances(ledger, accounts)).toEqual(accounts.map((_, index) => [index === 0 ? 6 : 0, 0]));
  });

  it("fails an operation of which the database refuses a value, and none of those beside it", async () => {
    const inner = openPool();
    const poison = "poison";
    const pool = {
      // What no check of the ledger lets through: text with NUL.
      query: (text: string, values: unknown[] = []) =>
        inner.query(
          text,
          [String(values[0] ?? "").replaceAll(poison, "\\u0000"), ...values.slice(1)].slice(0, values.length),
        ),
    };
    const ledger = postgresCreditLedger({ pool });
    const accounts = names(20);
    const ids = accounts.map((account, index) => (index % 9 === 4 ? `${poison}-${account}` : account));
    const results = await Promise.allSettled(accounts.map((account, index) => admit(ledger, account, ids[index])));
    for (const [index, result] of results.entries()) {
      if (index % 9 === 4) expect(result).toMatchObject({ reason: expect.any(LedgerInputError) });
      else expect(result).toMatchObject({ value: { account: accounts[index] } });
    }
    expect(await balances(ledger, accounts)).toEqual(accounts.map((_, index) => [0, index % 9 === 4 ? 0 : 10]));
  });

  it("fails all operations of a statement that is killed, and charges once what is then repeated", async () => {
    const ledger = postgresCreditLedger({ pool: openPool() });
    const accounts = names(10);
    const leases = await Promise.all(accounts.map((account) => admit(ledger, account)));
    const blocker = await lock(accounts.slice(6, 7));
    const settle = (lease: Lease) => ledger.settle(lease, { amountMicro: 4, mayBeDuplicateSince: Date.now() });
    const settled = Promise.allSettled(leases.map(settle));
    const observer = openPool(1);
    for (const pid of await waiters(observer, 1)) await observer.query("select pg_terminate_backend($1)", [pid]);
    for (const result of await settled) {
      expect(result).toMatchObject({ status: "rejected", reason: expect.any(LedgerUnavailableError) });
    }
    // It had charged six of them by then; all of that is undone.
    expect(await balances(ledger, accounts)).toEqual(accounts.map(() => [0, 10]));
    await blocker.query("commit");
    expect((await Promise.all(leases.map(settle))).map(({ status }) => status)).toEqual(accounts.map(() => "settled"));
    expect(await balances(ledger, accounts)).toEqual(accounts.map(() => [4, 0]));
  });

  it("charges nothing twice when replies are lost, and operations repeated in another order and grouping", async () => {
    const inner = openPool();
    let lost = 0;
    const deaf = {
      async query(text: string, values?: unknown[]) {
        const result = await inner.query(text, values);
        if (!isOperation(text)) return result;
        lost++;
        throw new Error("The connection ended before the reply came.");
      },
    };
    const [sender, repeater] = [
      postgresCreditLedger({ pool: deaf }),
      postgresCreditLedger({ pool: inner, batch: { operations: 3, inFlight: 4 } }),
    ];
    const accounts = names(12);
    const requests = [...accounts, ...accounts, ...accounts].map((account) => request(account));
    const sent = await Promise.allSettled(requests.map((each) => sender.reserve(each)));
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set(["rejected"]));
    const reservations = await Promise.all(requests.toReversed().map((each) => repeater.reserve(each)));
    const leases = reservations.map((result) => {
      expect(result).toMatchObject({ ok: true, replayed: true });
      return (result as { lease: Lease }).lease;
    });
    const settlement = { amountMicro: 4, mayBeDuplicateSince: Date.now() };
    await Promise.allSettled(leases.map((lease) => sender.settle(lease, settlement)));
    const ends = await Promise.all(
      leases.toSorted(() => Math.random() - 0.5).map((lease) => repeater.settle(lease, settlement)),
    );
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(["duplicate"]));
    expect(lost).toBeGreaterThanOrEqual(4);
    expect(await balances(repeater, accounts)).toEqual(accounts.map(() => [12, 0]));
    expect(await journalOf(repeater, accounts[0] as string)).toHaveLength(3);
  });

  it("knows operations of one statement as repetitions of each other, and a call's end in the statement of its begin", async () => {
    const pool = new Watched(openPool());
    const ledger = postgresCreditLedger({ pool });
    const [account, other] = names(2) as [string, string];
    const [id, again] = [randomUUID(), request(other)];
    const [first, second] = await Promise.all([admit(ledger, account, id), admit(ledger, account, id)]);
    expect(second).toEqual(first);
    const results = await Promise.all([ledger.reserve(again), ledger.reserve(again)]);
    expect(results.map((result) => result.ok && result.replayed)).toEqual([false, true]);
    const ends = await Promise.all([4, 4, 4].map((amountMicro) => ledger.settle(first, { amountMicro })));
    expect(ends.map(({ status }) => status)).toEqual(["settled", "duplicate", "duplicate"]);
    expect(pool.statements).toEqual([{ [account]: 2 }, { [other]: 2 }, { [account]: 3 }]);
    expect(await balances(ledger, [account])).toEqual([[4, 0]]);
  });

  it("serves other accounts while rows of more accounts than it has statements are locked", async () => {
    const ledger = postgresCreditLedger({ pool: openPool() });
    const [first, second, ...others] = names(6) as [string, string, ...string[]];
    for (const account of [first, second]) await admit(ledger, account);
    const blocker = await lock([first, second]);
    const observer = openPool(1);
    const held = [admit(ledger, first)];
    await waiters(observer, 1);
    held.push(admit(ledger, second));
    await waiters(observer, 2);
    held.push(admit(ledger, first));
    await Promise.all(others.map((account) => admit(ledger, account)));
    await blocker.query("commit");
    await Promise.all(held);
    expect(await balances(ledger, [first, second, ...others])).toEqual([
      [0, 30],
      [0, 20],
      ...others.map(() => [0, 10]),
    ]);
  });

  it("answers all that waits before it is closed", async () => {
    const pool = new Watched(openPool());
    const ledger = postgresCreditLedger({ pool });
    const [busy, ...others] = names(60) as [string, ...string[]];
    let answered = 0;
    const count = () => void answered++;
    for (const account of [...Array.from({ length: 1_000 }, () => busy), ...others])
      void admit(ledger, account).then(count, count);
    await ledger.close();
    expect(answered).toBe(1_059);
    expect(await balances(ledger, [busy])).toEqual([[0, 10_000]]);
    // The busy account had sixteen; the others did not wait for them.
    const busyBefore = pool.statements.findLastIndex((statement) => !(busy in statement));
    expect(pool.statements.slice(0, busyBefore).filter((statement) => busy in statement).length).toBeLessThan(8);
  });

  it.each([{ operations: 0 }, { operations: 65 }, { inFlight: 0 }, { inFlight: 2.5 }])("refuses %j", (batch) => {
    expect(() => postgresCreditLedger({ pool: openPool(1), batch })).toThrow(RangeError);
  });
});
