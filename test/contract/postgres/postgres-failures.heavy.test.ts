import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import {
  type CreditLedger,
  type Lease,
  LedgerConflictError,
  LedgerUnavailableError,
  type WindowLimits,
} from "../../../src/ledger/credit-ledger.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";
import { journalOf } from "../../support/journal-of.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

const second = 1_000;

function limitsAt(now = Date.now()): WindowLimits {
  const credits = { session: null, week: null, month: null };
  return windowLimits({ credits, sessionMs: 5 * 3_600_000, now });
}

function request(account: string, amount = 10, id: string = randomUUID()) {
  return { id, account, amountMicro: amount, limits: limitsAt(), leaseMs: 60 * second };
}

async function admit(ledger: CreditLedger, account: string, amount = 10, id?: string): Promise<Lease> {
  const result = await ledger.reserve(request(account, amount, id));
  if (!result.ok) throw new Error("Nothing is limited here.");
  return result.lease;
}

/** Repeats an operation until the ledger answers; anything but its being unavailable is an error. */
async function insist<Result>(operation: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation();
    } catch (error) {
      expect(error).toBeInstanceOf(LedgerUnavailableError);
      expect((error as Error).cause).toBeInstanceOf(Error);
      if (attempt === 500) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}

describeWithPostgres(
  "PostgreSQL, failing",
  (server) => {
    const pools: pg.Pool[] = [];
    const clients: pg.Client[] = [];
    /** A host's pool: it minds the errors of idle connections. */
    function openPool(config: pg.PoolConfig = {}): pg.Pool {
      const pool = new pg.Pool({ connectionString: server.url, max: 8, ...config });
      pool.on("error", () => {});
      pools.push(pool);
      return pool;
    }
    /** A connection of somebody else. */
    async function openClient(): Promise<pg.Client> {
      const client = new pg.Client({ connectionString: server.url });
      client.on("error", () => {});
      await client.connect();
      clients.push(client);
      return client;
    }
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);

    beforeEach(async () => {
      await runMigrations(openPool(), "infergate");
      process.on("unhandledRejection", note);
    });
    afterEach(async () => {
      process.off("unhandledRejection", note);
      await Promise.all([...clients.splice(0), ...pools.splice(0)].map((each) => each.end()));
      expect(unhandled).toEqual([]);
    });

    it("charges once what is repeated while its connections are cut", async () => {
      const ledger = postgresCreditLedger({ pool: openPool() });
      const account = randomUUID();
      const rounds = 3;
      await admit(ledger, account, 0);
      const killer = openPool({ max: 1, application_name: "killer" });
      let done = false;
      let kills = 0;
      let answered = 0;
      const killing = (async () => {
        while (!done) {
          // Not faster than this machine connects.
          await vi.waitFor(() => expect(done || answered > 0).toBe(true), { timeout: 60_000, interval: 40 });
          const { rowCount } = await killer.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and application_name <> 'killer'",
          );
          kills += rowCount ?? 0;
          answered = 0;
        }
      })();
      const spend = async (name: string) => {
        const id = randomUUID();
        const lease = await insist(() => admit(ledger, name, 10, id));
        answered++;
        await insist(() => ledger.renew([{ lease, observedMicro: 4, leaseMs: 60 * second }]));
        answered++;
        const since = Date.now();
        const { status } = await insist(() => ledger.settle(lease, { amountMicro: 7, mayBeDuplicateSince: since }));
        expect(["settled", "duplicate"]).toContain(status);
      };
      const spenders = Array.from({ length: 40 }, async (_, index) => {
        for (let round = 0; round < rounds; round++) await spend(index < 20 ? account : `${account}-${index}`);
      });
      await Promise.all(spenders).finally(() => {
        done = true;
      });
      await killing;
      expect(kills).toBeGreaterThan(10);
      expect((await insist(() => ledger.balance(account, limitsAt()))).windows.week).toMatchObject({
        usedMicro: 7 * 20 * rounds,
        heldMicro: 0,
      });
      expect(await journalOf(ledger, account)).toHaveLength(20 * rounds);
      expect((await ledger.balance(`${account}-30`, limitsAt())).windows.month).toMatchObject({
        usedMicro: 7 * rounds,
        heldMicro: 0,
      });
    });

    it("is unavailable while the server is down, and has lost nothing when it is back", async () => {
      const ledger = postgresCreditLedger({ pool: openPool() });
      const account = randomUUID();
      await ledger.settle(await admit(ledger, account), { amountMicro: 3 });
      const open = await admit(ledger, account);
      await server.stop("immediate");
      const attempts = [
        () => ledger.reserve(request(account)),
        () => ledger.settle(open, { amountMicro: 5 }),
        () => ledger.renew([{ lease: open, observedMicro: 1, leaseMs: 60 * second }]),
        () => ledger.release(open),
        () => ledger.balance(account, limitsAt()),
        () => ledger.grant({ id: randomUUID(), account, window: "week", amountMicro: 1, limits: limitsAt() }),
        () => ledger.reset(account, ["week"]),
        () => ledger.forget(account),
        async () => ledger.history?.({ account }),
      ];
      for (const attempt of attempts) {
        const error = await attempt().then(
          () => undefined,
          (reason: unknown) => reason,
        );
        expect(error).toBeInstanceOf(LedgerUnavailableError);
        expect((error as Error).cause).toBeInstanceOf(Error);
      }
      await server.start();
      expect((await insist(() => ledger.settle(open, { amountMicro: 5 }))).status).toBe("settled");
      expect((await ledger.balance(account, limitsAt())).windows.week).toMatchObject({ usedMicro: 8, heldMicro: 0 });
    });

    it("makes its schema when the server is up, though it was down at first", async () => {
      const ledger = postgresCreditLedger({ pool: openPool(), schema: "late_start" });
      await server.stop("fast");
      await expect(ledger.reserve(request("a"))).rejects.toBeInstanceOf(LedgerUnavailableError);
      await server.start();
      expect((await insist(() => ledger.reserve(request("a")))).ok).toBe(true);
    });

    it("is unavailable while the pool is exhausted", async () => {
      const pool = openPool({ max: 1 });
      const ledger = postgresCreditLedger({ pool });
      const account = randomUUID();
      const lease = await admit(ledger, account);
      const client = await pool.connect();
      // Not before: to connect may take longer.
      pool.options.connectionTimeoutMillis = 50;
      const results = await Promise.allSettled([
        ledger.settle(lease, { amountMicro: 1 }),
        ledger.reserve(request(account)),
        ledger.balance(account, limitsAt()),
      ]);
      for (const result of results) {
        expect(result).toMatchObject({ status: "rejected", reason: expect.any(LedgerUnavailableError) });
      }
      pool.options.connectionTimeoutMillis = 0;
      client.release();
      expect((await ledger.settle(lease, { amountMicro: 1 })).status).toBe("settled");
    });

    it("takes one connection for an account, however many operations wait for it", async () => {
      const pool = openPool({ max: 2 });
      const ledger = postgresCreditLedger({ pool });
      const [hot, other] = [randomUUID(), randomUUID()];
      await admit(ledger, hot, 0);
      // The step of the retention that it has set off takes a connection, too. This waits for its end.
      await ledger.close();
      const blocker = await openClient();
      await blocker.query("begin");
      await blocker.query("select from infergate.account where id = $1 for update", [hot]);
      const waiting = Array.from({ length: 200 }, () => admit(ledger, hot, 1));
      await admit(ledger, other, 1);
      expect(pool.totalCount - pool.idleCount).toBe(1);
      await blocker.query("commit");
      await Promise.all(waiting);
      expect((await ledger.balance(hot, limitsAt())).windows.week.heldMicro).toBe(200);
    });

    it("gets over a deadlock", async () => {
      const ledger = postgresCreditLedger({ pool: openPool() });
      const [first = "", middle = "", last = ""] = [randomUUID(), randomUUID(), randomUUID()].sort();
      const leases = await Promise.all([first, middle, last].map((account) => admit(ledger, account)));
      const [other, blocker, observer] = [await openClient(), await openClient(), await openClient()];
      const lock = "select from infergate.account where id = $1 for update";
      const waiters = async (count: number) =>
        vi.waitFor(
          async () => {
            // For longer than deadlock_timeout: they have looked for a cycle, and found none.
            const { rows } = await observer.query(
              "select distinct pid from pg_locks where not granted and waitstart < clock_timestamp() - interval '50 ms'",
            );
            expect(rows).toHaveLength(count);
          },
          { timeout: 10_000 },
        );
      const deadlocks = async (): Promise<number> => {
        const { rows } = await observer.query("select deadlocks::int from pg_stat_database where datname = 'postgres'");
        return rows[0].deadlocks;
      };
      const before = await deadlocks();
      for (const client of [other, blocker]) await client.query("begin");
      await other.query(lock, [last]);
      await blocker.query(lock, [middle]);
      const renewal = ledger.renew(leases.map((lease) => ({ lease, observedMicro: 1, leaseMs: 60 * second })));
      await waiters(1);
      const othersTurn = other.query(lock, [first]);
      await waiters(2);
      // The cycle closes when the renewal goes on, so it is the one to notice, and to give way.
      await blocker.query("commit");
      await othersTurn;
      await other.query("commit");
      expect(await renewal).toEqual(["renewed", "renewed", "renewed"]);
      await vi.waitFor(async () => expect(await deadlocks()).toBeGreaterThan(before));
    });

    it("is unavailable when it loses again and again", async () => {
      let attempts = 0;
      const losing = {
        async query(): Promise<{ rows: unknown[] }> {
          attempts++;
          throw Object.assign(new Error("deadlock detected"), { code: "40P01" });
        },
      };
      await expect(postgresCreditLedger({ pool: losing }).forget("a")).rejects.toThrow(/deadlock detected/);
      expect(attempts).toBe(5);
    });

    it("lets no refusal harm what goes in the same statement", async () => {
      const ledger = postgresCreditLedger({ pool: openPool({ max: 1 }) });
      const [account, id] = [randomUUID(), randomUUID()];
      const lease = await admit(ledger, account, 10, id);
      const { week, ...limits } = limitsAt();
      const past = { ...limits, week: { ...week, bounds: [1, 2, 3, 4] as const } };
      const far = Date.now() + 3_600_000;
      const future = { ...limits, week: { ...week, bounds: [far, far + 1, far + 2, far + 3] as const } };
      const first = admit(ledger, account, 1);
      const refused = [
        ledger.reserve(request(account, 11, id)),
        ledger.settle({ ...lease, amountMicro: 9 }, { amountMicro: 1 }),
        ledger.reserve({ ...request(account), limits: past }),
        ledger.reserve({ ...request(account), limits: future }),
        ledger.reserve(request(account, Number.MAX_SAFE_INTEGER)),
        ledger.grant({ id, account, window: "month", amountMicro: Number.MAX_SAFE_INTEGER, limits: limitsAt() }),
        ledger.grant({ id: randomUUID(), account, window: "month", amountMicro: 1, limits: limitsAt() }),
      ];
      const admitted = admit(ledger, account, 2);
      const settled = ledger.settle(lease, { amountMicro: 4 });
      const results = await Promise.allSettled(refused);
      expect(results.map((result) => (result.status === "rejected" ? result.reason.name : "done"))).toEqual([
        "LedgerConflictError",
        "LedgerConflictError",
        "LedgerClockError",
        "LedgerClockError",
        "LedgerInputError",
        "done",
        "LedgerInputError",
      ]);
      await Promise.all([first, admitted, settled]);
      expect((await ledger.balance(account, limitsAt())).windows.month).toMatchObject({ usedMicro: 4, heldMicro: 3 });
    });

    it("gives one of two accounts an id that both ask for at once", async () => {
      const ledgers = [1, 2].map(() => postgresCreditLedger({ pool: openPool() }));
      for (let round = 0; round < 20; round++) {
        const id = randomUUID();
        const accounts = ["a", "b"].map((name) => `${name}-${id}`);
        const results = await Promise.allSettled(
          accounts.map((account, index) => (ledgers[index] as CreditLedger).reserve(request(account, 10, id))),
        );
        const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
        expect(refusals).toEqual([expect.any(LedgerConflictError)]);
      }
    });

    it("charges one of two accounts for an unknown id that both settle at once", async () => {
      const ledgers = [1, 2].map(() => postgresCreditLedger({ pool: openPool() }));
      for (let round = 0; round < 8; round++) {
        const lease = await admit(ledgers[0] as CreditLedger, `c-${round}`);
        await ledgers[0]?.forget(`c-${round}`);
        const results = await Promise.allSettled(
          ledgers.map((ledger, index) =>
            ledger.settle({ ...lease, account: `${"de"[index]}-${round}` }, { amountMicro: 5 }),
          ),
        );
        expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
        expect(refusals).toEqual([expect.any(LedgerConflictError)]);
      }
    });
  },
  { deadlock_timeout: "10ms" },
);
