import { randomUUID } from "node:crypto";
import { createPool as createCallbackPool } from "mysql2";
import { createPool, type Pool } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import {
  type Commit,
  capName,
  coreName,
  emptyCommit,
  holdName,
  type LedgerStorage,
  type Put,
} from "../../../../src/ledger/storage/ledger-storage.js";
import { storageCreditLedger } from "../../../../src/ledger/storage/storage-credit-ledger.js";
import { type MysqlConnection, MysqlDatabase, type MysqlPool } from "../../../../src/stores/mysql/mysql-database.js";
import { MysqlStorage } from "../../../../src/stores/mysql/mysql-storage.js";
import { mysqlLedgerTables } from "../../../../src/stores/mysql/storage-tables.js";
import { describeWithMariaDb } from "../../../support/mariadb-server.js";
import { TcpProxy } from "../../../support/tcp-proxy.js";

const storageOn = (pool: MysqlPool) => new MysqlStorage(new MysqlDatabase({ pool }, mysqlLedgerTables));

/** Makes an account with a hold, whose texts say of which they are. */
function firstCommit(account: string, hold: string): Commit {
  const puts = new Map([
    [coreName, { text: `core of ${account}`, counters: [1, Number.MAX_SAFE_INTEGER], due: undefined }],
    [holdName(hold), { text: `hold ${hold}`, counters: [], due: Date.now() + 60_000 }],
  ]);
  const requires = new Map([...puts.keys()].map((name) => [name, undefined]));
  return { ...emptyCommit, account, version: randomUUID(), expected: undefined, requires, puts, now: Date.now() };
}

async function read(storage: LedgerStorage, account: string, hold: string) {
  const [loaded] = await storage.load([{ account, names: [holdName(hold)], entries: [] }]);
  return loaded;
}

/** A pool whose connections are given to a test's own query. */
function poolThrough(pool: Pool, query: (connection: MysqlConnection, sql: string) => Promise<void>): MysqlPool {
  return {
    async getConnection() {
      const connection = await pool.getConnection();
      return {
        query: async (options) => {
          await query(connection, options.sql);
          return connection.query(options);
        },
        release: () => connection.release(),
        destroy: () => connection.destroy(),
      };
    },
  };
}

describeWithMariaDb("MariaDB", (server) => {
  let pool: Pool;

  beforeAll(() => {
    pool = createPool(server.url);
  });
  afterAll(() => pool.end());

  const limits = () =>
    windowLimits({ credits: { session: 1_000_000, week: null, month: null }, sessionMs: 3_600_000, now: Date.now() });

  it("commits a second time nothing, when the first one's outcome was lost", async () => {
    let isLost = false;
    const losing = poolThrough(pool, async (connection, sql) => {
      if (sql !== "commit" || isLost) return;
      isLost = true;
      await connection.query({ sql, rowsAsArray: true, typeCast: true, nestTables: false, timeout: 5_000 });
      connection.destroy();
    });
    await read(storageOn(pool), "lost", "lost");
    const storage = storageOn(losing);
    const commit = firstCommit("lost", "lost");
    await expect(storage.commit([commit])).rejects.toThrow();
    const [again] = await storage.commit([commit]);
    expect(again?.isDone).toBe(false);
    expect((await read(storage, "lost", "lost"))?.version).toBe(commit.version);
  });

  it("commits once more, where a connection ends before that", async () => {
    let ended = 0;
    const ending = poolThrough(pool, async (connection, sql) => {
      if (sql.startsWith("insert") && ended++ === 0) await pool.query(`kill ${await idOf(connection)}`);
    });
    const storage = storageOn(ending);
    const [outcome] = await storage.commit([firstCommit("ended", "ended")]);
    expect(outcome?.isDone).toBe(true);
    expect(ended).toBe(2);
  });

  it("takes another connection, where one has died without a word", async () => {
    const proxy = await TcpProxy.start(server.port);
    const proxied = createPool(server.url.replace(String(server.port), String(proxy.port)));
    const impatient: MysqlPool = {
      async getConnection() {
        const connection = await proxied.getConnection();
        return {
          // A tenth of the time, since it is waited for here.
          query: (options) => connection.query({ ...options, timeout: options.timeout / 10 }),
          release: () => connection.release(),
          destroy: () => connection.destroy(),
        };
      },
    };
    const storage = storageOn(impatient);
    await read(storage, "silent", "silent");
    proxy.silence();
    const [outcome] = await storage.commit([firstCommit("silent", "silent")]);
    expect(outcome?.isDone).toBe(true);
    proxy.silence();
    expect((await read(storage, "silent", "silent"))?.records.size).toBe(2);
    await proxied.end();
    await proxy.close();
  });

  it("ends a deadlock by doing it once more", async () => {
    await storageOn(pool).commit([firstCommit("a", "a"), firstCommit("b", "b")]);
    const other = await pool.getConnection();
    await other.query("start transaction");
    await other.query("select 1 from infergate_ledger_record where scope = 'b' for update");
    // The other one has changed more: it is not the one that is rolled back.
    await other.query(
      "insert into infergate_ledger_record (scope, name, stamp, content, counters) values ('x', 'x', '', '', '')",
    );
    let isLocked: Promise<unknown> | undefined;
    let begun = 0;
    const locking = poolThrough(pool, async (_, sql) => {
      if (sql === "start transaction") begun++;
      if (!sql.includes("for update") || isLocked !== undefined) return;
      isLocked = untilWaiting(pool).then(async () => {
        await other.query("select 1 from infergate_ledger_record where scope = 'a' for update");
        await other.query("rollback");
      });
    });
    const storage = storageOn(locking);
    const [a, b] = await storage.load(["a", "b"].map((account) => ({ account, names: [], entries: [] })));
    const commits = [a, b].map((loaded) => {
      const { account = "", version = "" } = loaded ?? {};
      const puts = new Map([[coreName, { text: "new", counters: [], due: undefined }]]);
      return {
        ...emptyCommit,
        requires: new Map(),
        account,
        version: randomUUID(),
        expected: version,
        puts,
        now: Date.now(),
      };
    });
    const outcomes = await storage.commit(commits);
    expect(outcomes.map(({ isDone }) => isDone)).toEqual([true, true]);
    await isLocked;
    expect(begun).toBe(2);
    other.release();
  });

  it("serves all other accounts while somebody keeps the row of one", async () => {
    const storage = storageOn(pool);
    const ledger = storageCreditLedger(storage);
    const reserve = (account: string, id: string) =>
      ledger.reserve({ id, account, amountMicro: 1, limits: limits(), leaseMs: 60_000 });
    const ids = ["free-1", "kept", "free-2"];
    for (const id of ids) await reserve(id, `first of ${id}`);
    const other = await pool.getConnection();
    await other.query("start transaction");
    await other.query("select 1 from infergate_ledger_record where scope = 'kept' for update");
    // They go together.
    const [one, kept, two] = ids.map((id) => reserve(id, `second of ${id}`));
    expect([await one, await two]).toMatchObject([{ ok: true }, { ok: true }]);
    await untilWaiting(pool);
    await other.query("rollback");
    expect(await kept).toMatchObject({ ok: true });
    other.release();
  });

  it("takes what two commits bring for whose came first", async () => {
    const storage = storageOn(pool);
    const outcomes = await storage.commit([firstCommit("one", "same"), firstCommit("other", "same")]);
    expect(outcomes.map(({ isDone }) => isDone).sort()).toEqual([false, true]);
  });

  it("looks at no more of an account than an operation names, however much there is", async () => {
    const one = createPool({ uri: server.url, connectionLimit: 1 });
    const storage = storageOn(one);
    const first = firstCommit("full", "full");
    const many = Array.from({ length: 1_000 }, (_, index): [string, Put][] => [
      [capName(`cap-${index}`), { text: "cap", counters: [0, 0], due: undefined }],
      [holdName(`open-${index}`), { text: "hold", counters: [], due: Date.now() + 30_000 + index }],
      [holdName(`expired-${index}`), { text: "hold", counters: [], due: undefined }],
    ]).flat();
    await storage.commit([{ ...first, puts: new Map([...first.puts, ...many]) }]);
    // Statistics of an empty table, and none of this one.
    await storage.load([{ account: "full", names: [], entries: [] }]);
    await one.query("flush status");
    const names = [coreName, capName("cap-7"), holdName("open-0"), holdName("expired-7")];
    const [loaded] = await storage.load([{ account: "full", names, entries: ["end:none"] }]);
    expect(loaded?.records.size).toBe(4);
    const records = loaded?.records;
    const requires = new Map(names.map((name) => [name, records?.get(name)?.stamp]));
    const change = { account: "full", version: randomUUID(), expected: loaded?.version, now: loaded?.now ?? 0 };
    const [outcome] = await storage.commit([{ ...emptyCommit, ...change, requires, removes: names.slice(1) }]);
    expect(outcome).toMatchObject({ isDone: true, nextDue: many[4]?.[1].due });
    const [rows] = await one.query("show session status like 'Handler_read%'");
    const reads = (rows as { Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
    expect(reads).toBeLessThan(150);
    await one.end();
  });

  it("brings what goes by version through on an account on which seven processes are busy, in four tries each", async () => {
    const pools = Array.from({ length: 8 }, () => createPool({ uri: server.url, connectionLimit: 3 }));
    const storages = pools.map((one) => storageOn(one));
    const storage = storages[0] as MysqlStorage;
    let tries = 0;
    const counted: LedgerStorage = Object.assign(Object.create(storage) as LedgerStorage, {
      load: storage.load.bind(storage),
      commit: (...args: Parameters<LedgerStorage["commit"]>) => {
        tries++;
        return storage.commit(...args);
      },
      locked: (...args: Parameters<LedgerStorage["locked"]>) => {
        tries++;
        return storage.locked(...args);
      },
    });
    let isOver = false;
    let calls = 0;
    const hammer = async (ledger: CreditLedger) => {
      while (!isOver) {
        const asked = { id: randomUUID(), account: "busy", amountMicro: 10, limits: limits(), leaseMs: 60_000 };
        const result = await ledger.reserve(asked);
        if (!result.ok) throw new Error("There is enough.");
        await ledger.settle(result.lease, { amountMicro: 7 });
        calls++;
      }
    };
    const others = storages.slice(1).flatMap((one) => {
      const ledger = storageCreditLedger(one);
      return [hammer(ledger), hammer(ledger)];
    });
    const ledger = storageCreditLedger(counted);
    await ledger.balance("busy", limits());
    const grant = { account: "busy", window: "session", amountMicro: 500 } as const;
    for (let turn = 0; turn < 5; turn++) {
      const steps = [
        () => ledger.topUp?.({ id: `top-up-${turn}`, account: "busy", amountMicro: 100 }),
        () => ledger.reset("busy", ["week"]),
        () => ledger.grant({ ...grant, id: `grant-${turn}`, limits: limits() }),
      ];
      for (const step of steps) {
        tries = 0;
        await step();
        expect(tries).toBeLessThanOrEqual(4);
      }
    }
    isOver = true;
    await Promise.all(others);
    const { windows, prepaid } = await ledger.balance("busy", limits());
    expect(windows.session).toMatchObject({ usedMicro: calls * 7, heldMicro: 0, bonusMicro: 2_500 });
    expect(prepaid).toMatchObject({ balanceMicro: 500 });
    for (const one of pools) await one.end();
  });

  it("reads more of an account while it is locked, and keeps others out until it has committed", async () => {
    const storage = storageOn(pool);
    const first = firstCommit("locked", "locked");
    await storage.commit([first]);
    let isOvertaking: Promise<unknown> | undefined;
    const order: string[] = [];
    const outcome = await storage.locked({ account: "locked", names: [], entries: [] }, (loaded, asked) => {
      if (asked.names.length === 0) {
        expect(loaded.records.has(holdName("locked"))).toBe(false);
        const other = { ...emptyCommit, requires: new Map(), account: "locked", version: randomUUID() };
        isOvertaking = storageOn(pool)
          .commit([{ ...other, expected: undefined, now: Date.now() }])
          .then(() => order.push("other"));
        return { ask: { account: "locked", names: [holdName("locked")], entries: [] } };
      }
      expect(loaded).toMatchObject({ version: first.version });
      expect(loaded.records.get(holdName("locked"))?.text).toBe("hold locked");
      const own = { ...emptyCommit, requires: new Map(), account: "locked", version: "own" };
      order.push("locked");
      return { commit: { ...own, expected: loaded.version, now: loaded.now } };
    });
    expect(outcome).toMatchObject({ isDone: true, previous: first.version });
    await isOvertaking;
    expect(order).toEqual(["locked", "other"]);
  });

  it("undoes what a decision throws in, and lets others in", async () => {
    const storage = storageOn(pool);
    const first = firstCommit("thrown", "thrown");
    await storage.commit([first]);
    const thrown = new Error("It does not decide.");
    const asked = { account: "thrown", names: [], entries: [] };
    await expect(
      storage.locked(asked, () => {
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    expect(await storage.locked(asked, () => undefined)).toBe(undefined);
    expect((await read(storage, "thrown", "thrown"))?.version).toBe(first.version);
  });

  it("decides anew on an account that another process has just brought", async () => {
    const other = firstCommit("brought", "by other");
    let isBrought = false;
    const overtaken = poolThrough(pool, async (_, sql) => {
      if (!sql.startsWith("insert") || isBrought) return;
      isBrought = true;
      await storageOn(pool).commit([other]);
    });
    const seen: string[] = [];
    const outcome = await storageOn(overtaken).locked({ account: "brought", names: [], entries: [] }, (loaded) => {
      seen.push(loaded.version);
      const requires = new Map([[coreName, loaded.records.get(coreName)?.stamp]]);
      const own = firstCommit("brought", "by me");
      return { commit: { ...own, requires, expected: loaded.version, now: loaded.now } };
    });
    expect(seen).toEqual(["", other.version]);
    expect(outcome).toMatchObject({ isDone: true, previous: other.version });
  });

  it("refuses a pool that reads what was", async () => {
    const old = createPool({ uri: server.url, connectionLimit: 1 });
    await old.query("set autocommit = 0");
    await expect(read(storageOn(old), "a", "a")).rejects.toThrow(/autocommit off/);
    await old.end();
  });

  it("leaves tables of a newer release alone", async () => {
    const ofPrefix = () => new MysqlStorage(new MysqlDatabase({ pool, prefix: "newer_" }, mysqlLedgerTables));
    await read(ofPrefix(), "a", "a");
    await pool.query("insert into newer_migration values (2)");
    await expect(read(ofPrefix(), "a", "a")).rejects.toThrow(/newer release \(version 2\)/);
  });

  it("takes pools of mysql2 alone", () => {
    expect(() => storageOn({} as MysqlPool)).toThrow(/must be a pool of mysql2/);
    expect(() => new MysqlDatabase({ pool, prefix: "a b" }, mysqlLedgerTables)).toThrow(/prefix must be/);
  });

  it("counts what several processes take from the same accounts", async () => {
    const pools = Array.from({ length: 4 }, () => createPool(server.url));
    const ledgers = pools.map((one) => storageCreditLedger(storageOn(one)));
    const accounts = ["hot-1", "hot-2", "hot-3"];
    await Promise.all(
      ledgers.flatMap((ledger) =>
        Array.from({ length: 90 }, async (_, call) => {
          const account = accounts[call % 3] as string;
          const asked = { id: randomUUID(), account, amountMicro: 10, limits: limits(), leaseMs: 60_000 };
          const result = await ledger.reserve(asked);
          if (!result.ok) throw new Error("There is enough.");
          if (call % 9 !== 0) await ledger.settle(result.lease, { amountMicro: 7 });
        }),
      ),
    );
    for (const [index, account] of accounts.entries()) {
      const { windows } = await (ledgers[0] as (typeof ledgers)[number]).balance(account, limits());
      // Of 4 × 30 calls on each, those whose number divides by 9 are open: of the first account 40.
      const open = index === 0 ? 40 : 0;
      expect(windows.session).toMatchObject({ usedMicro: (120 - open) * 7, heldMicro: open * 10 });
    }
    const [rows] = await pool.query(
      "select sum(amount) as used from infergate_ledger_entry where account like 'hot-%'",
    );
    expect(Number((rows as { used: string }[])[0]?.used)).toBe(320 * 7);
    for (const one of pools) await one.end();
  });
});

const odd = ["--sql-mode=ANSI,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH", "--character-set-server=latin1"];
const settings = [...odd, "--default-time-zone=+09:00", "--transaction-isolation=SERIALIZABLE"];

describeWithMariaDb(
  "MariaDB with settings of its own",
  (server) => {
    const options = {
      ...{ charset: "latin1", supportBigNumbers: true, bigNumberStrings: true, dateStrings: true, timezone: "-05:00" },
      ...{ typeCast: false, rowsAsArray: false, namedPlaceholders: true, multipleStatements: false },
    };

    describe.each([
      ["promises", () => createPool({ uri: server.url, ...options })],
      ["callbacks", () => createCallbackPool({ uri: server.url, ...options })],
    ] as const)("through a pool of %s", (kind, open) => {
      it("takes names for the same that are the same letter by letter", async () => {
        const pool = open();
        const storage = storageOn(pool);
        const names = ["a", "A", "a ", "ä", "a\u0308", "😀", "\\'\"`", "é".repeat(118), "😀".repeat(59)].map((name) =>
          `${kind} ${name}`.slice(-128),
        );
        const outcomes = await storage.commit(names.map((name) => firstCommit(name, `${name}${name}`)));
        expect(outcomes.every(({ isDone }) => isDone)).toBe(true);
        for (const name of names) {
          const loaded = await read(storage, name, `${name}${name}`);
          expect(loaded?.records.get(coreName)).toMatchObject({
            text: `core of ${name}`,
            counters: [1, Number.MAX_SAFE_INTEGER],
          });
          expect(loaded?.records.get(holdName(`${name}${name}`))?.text).toBe(`hold ${name}${name}`);
          expect(Math.abs((loaded?.now ?? 0) - Date.now())).toBeLessThan(60_000);
        }
        await new Promise((resolve) => resolve(pool.end(resolve as never)));
      });
    });
  },
  settings,
);

async function idOf(connection: MysqlConnection): Promise<number> {
  const sql = "select connection_id()";
  const [rows] = await connection.query({ sql, rowsAsArray: true, typeCast: true, nestTables: false, timeout: 5_000 });
  return (rows as number[][])[0]?.[0] as number;
}

/** Resolves once a statement waits for a lock. */
async function untilWaiting(pool: Pool): Promise<void> {
  for (;;) {
    const [rows] = await pool.query("select 1 from information_schema.innodb_trx where trx_state = 'LOCK WAIT'");
    if ((rows as unknown[]).length > 0) return;
  }
}
