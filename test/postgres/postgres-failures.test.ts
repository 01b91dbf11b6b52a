import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  type CreditLedger,
  type Lease,
  LedgerConflictError,
  LedgerUnavailableError,
  type WindowLimits,
} from "../../src/ledger/credit-ledger.js";
import { windowLimits } from "../../src/ledger/windows.js";
import { runMigrations } from "../../src/postgres/migrate.js";
import { postgresCreditLedger } from "../../src/postgres/postgres-credit-ledger.js";
import { describeWithPostgres } from "../support/postgres-server.js";
import { journalOf } from "./journal-of.js";

const second = 1_000;

function limitsAt(now = Date.now()): WindowLimits {
  const credits = { session: null, week: null, month: null };
  return windowLimits({ credits, sessionMs: 5 * 3_600_000, now });
}

function request(subject: string, amount = 10, id: string = randomUUID()) {
  return { id, subject, amount, limits: limitsAt(), leaseMs: 60 * second };
}

async function admit(ledger: CreditLedger, subject: string, amount = 10, id?: string): Promise<Lease> {
  const result = await ledger.reserve(request(subject, amount, id));
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
      const subject = randomUUID();
      const rounds = 3;
      await admit(ledger, subject, 0);
      const killer = openPool({ max: 1, application_name: "killer" });
      let done = false;
      let kills = 0;
      const killing = (async () => {
        while (!done) {
          const { rowCount } = await killer.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and application_name <> 'killer'",
          );
          kills += rowCount ?? 0;
          await new Promise((resolve) => setTimeout(resolve, 40));
        }
      })();
      const spend = async (name: string) => {
        const id = randomUUID();
        const lease = await insist(() => admit(ledger, name, 10, id));
        await insist(() => ledger.renew([{ lease, observed: 4, leaseMs: 60 * second }]));
        const since = Date.now();
        const { status } = await insist(() => ledger.settle(lease, { amount: 7, mayBeDuplicateSince: since }));
        expect(["settled", "duplicate"]).toContain(status);
      };
      const spenders = Array.from({ length: 40 }, async (_, index) => {
        for (let round = 0; round < rounds; round++) await spend(index < 20 ? subject : `${subject}-${index}`);
      });
      await Promise.all(spenders).finally(() => {
        done = true;
      });
      await killing;
      expect(kills).toBeGreaterThan(10);
      expect((await insist(() => ledger.balance(subject, limitsAt()))).windows.week).toMatchObject({
        used: 7 * 20 * rounds,
        held: 0,
      });
      expect(await journalOf(ledger, subject)).toHaveLength(20 * rounds);
      expect((await ledger.balance(`${subject}-30`, limitsAt())).windows.month).toMatchObject({
        used: 7 * rounds,
        held: 0,
      });
    }, 60_000);

    it("is unavailable while the server is down, and has lost nothing when it is back", async () => {
      const ledger = postgresCreditLedger({ pool: openPool() });
      const subject = randomUUID();
      await ledger.settle(await admit(ledger, subject), { amount: 3 });
      const open = await admit(ledger, subject);
      await server.stop("immediate");
      const attempts = [
        () => ledger.reserve(request(subject)),
        () => ledger.settle(open, { amount: 5 }),
        () => ledger.renew([{ lease: open, observed: 1, leaseMs: 60 * second }]),
        () => ledger.release(open),
        () => ledger.balance(subject, limitsAt()),
        () => ledger.grant({ id: randomUUID(), subject, window: "week", amount: 1, limits: limitsAt() }),
        () => ledger.reset(subject, ["week"]),
        () => ledger.forget(subject),
        async () => ledger.history?.({ subject }),
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
      expect((await insist(() => ledger.settle(open, { amount: 5 }))).status).toBe("settled");
      expect((await ledger.balance(subject, limitsAt())).windows.week).toMatchObject({ used: 8, held: 0 });
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
      const subject = randomUUID();
      const lease = await admit(ledger, subject);
      const client = await pool.connect();
      // Not before: to connect may take longer.
      pool.options.connectionTimeoutMillis = 50;
      const results = await Promise.allSettled([
        ledger.settle(lease, { amount: 1 }),
        ledger.reserve(request(subject)),
        ledger.balance(subject, limitsAt()),
      ]);
      for (const result of results) {
        expect(result).toMatchObject({ status: "rejected", reason: expect.any(LedgerUnavailableError) });
      }
      pool.options.connectionTimeoutMillis = 0;
      client.release();
      expect((await ledger.settle(lease, { amount: 1 })).status).toBe("settled");
    });

    it("takes one connection for an account, however many operations wait for it", async () => {
      const pool = openPool({ max: 2 });
      const ledger = postgresCreditLedger({ pool });
      const [hot, other] = [randomUUID(), randomUUID()];
      await admit(ledger, hot, 0);
      const blocker = await openClient();
      await blocker.query("begin");
      await blocker.query("select from infergate.account where subject = $1 for update", [hot]);
      const waiting = Array.from({ length: 200 }, () => admit(ledger, hot, 1));
      await admit(ledger, other, 1);
      expect(pool.totalCount - pool.idleCount).toBe(1);
      await blocker.query("commit");
      await Promise.all(waiting);
      expect((await ledger.balance(hot, limitsAt())).windows.week.held).toBe(200);
    });

    it("gets over a deadlock", async () => {
      const ledger = postgresCreditLedger({ pool: openPool() });
      const [first = "", middle = "", last = ""] = [randomUUID(), randomUUID(), randomUUID()].sort();
      const leases = await Promise.all([first, middle, last].map((subject) => admit(ledger, subject)));
      const [other, blocker, observer] = [await openClient(), await openClient(), await openClient()];
      const lock = "select from infergate.account where subject = $1 for update";
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
      const renewal = ledger.renew(leases.map((lease) => ({ lease, observed: 1, leaseMs: 60 * second })));
      await waiters(1);
      const othersTurn = other.query(lock, [first]);
      await waiters(2);
      // The cycle closes when the renewal goes on, so it is the one to notice, and to give way.
      await blocker.query("commit");
      await othersTurn;
      await other.query("commit");
      expect(await renewal).toEqual(["renewed", "renewed", "renewed"]);
      await vi.waitFor(async () => expect(await deadlocks()).toBeGreaterThan(before), { timeout: 10_000 });
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
      const [subject, id] = [randomUUID(), randomUUID()];
      const lease = await admit(ledger, subject, 10, id);
      const { week, ...limits } = limitsAt();
      const past = { ...limits, week: { ...week, bounds: [1, 2, 3, 4] as const } };
      const far = Date.now() + 3_600_000;
      const future = { ...limits, week: { ...week, bounds: [far, far + 1, far + 2, far + 3] as const } };
      const first = admit(ledger, subject, 1);
      const refused = [
        ledger.reserve(request(subject, 11, id)),
        ledger.settle({ ...lease, amount: 9 }, { amount: 1 }),
        ledger.reserve({ ...request(subject), limits: past }),
        ledger.reserve({ ...request(subject), limits: future }),
        ledger.reserve(request(subject, Number.MAX_SAFE_INTEGER)),
        ledger.grant({ id, subject, window: "month", amount: Number.MAX_SAFE_INTEGER, limits: limitsAt() }),
        ledger.grant({ id: randomUUID(), subject, window: "month", amount: 1, limits: limitsAt() }),
      ];
      const admitted = admit(ledger, subject, 2);
      const settled = ledger.settle(lease, { amount: 4 });
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
      expect((await ledger.balance(subject, limitsAt())).windows.month).toMatchObject({ used: 4, held: 3 });
    });

    it("gives one of two accounts an id that both ask for at once", async () => {
      const ledgers = [1, 2].map(() => postgresCreditLedger({ pool: openPool() }));
      for (let round = 0; round < 20; round++) {
        const id = randomUUID();
        const subjects = ["a", "b"].map((name) => `${name}-${id}`);
        const results = await Promise.allSettled(
          subjects.map((subject, index) => (ledgers[index] as CreditLedger).reserve(request(subject, 10, id))),
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
            ledger.settle({ ...lease, subject: `${"de"[index]}-${round}` }, { amount: 5 }),
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
