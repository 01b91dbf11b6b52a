import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import pg from "pg";
import { afterEach, describe, expect, it } from "vitest";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { OutageTest } from "../../support/guard/outage-test.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { TcpProxy } from "../../support/tcp-proxy.js";

const seconds = Number(process.env["SOAK_SECONDS"] ?? 60);
const parallel = 16;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Harms that end by themselves. */
type Harms = readonly (() => Promise<unknown>)[];

function harmsOf(proxy: TcpProxy): Harms {
  return [
    async () => proxy.cut(),
    async () => {
      proxy.stall();
      await sleep(Math.random() * 4_000);
      if (Math.random() < 0.5) proxy.cut();
      proxy.flow();
    },
    async () => {
      proxy.delayMs = Math.random() * 300;
      await sleep(1_000);
      proxy.delayMs = 0;
    },
    async () => {
      proxy.mode = "refuse";
      proxy.cut();
      await sleep(Math.random() * 3_000);
      proxy.mode = "pass";
    },
  ];
}

async function soak(test: OutageTest, ledger: CreditLedger, harms: Harms): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  let calls = 0;
  const worker = async () => {
    while (performance.now() < end) {
      const { status } = await test.call(calls++ % 2 === 0);
      // As a client does that was told to come again.
      if (status === 503) await sleep(50);
    }
  };
  const load = Promise.all(Array.from({ length: parallel }, worker));
  let streams = 0;
  while (performance.now() < end - 8_000) {
    if (
      await test.begin(1).then(
        () => true,
        () => false,
      )
    )
      streams++;
    const harm = harms[Math.floor(Math.random() * harms.length)];
    await harm?.();
    await sleep(Math.random() * 1_000);
  }
  await load;
  await test.finish();
  const counted = (type: string) => test.ledgerEvents.filter((event) => event.type === type).length;
  const { length: answers } = test.statuses.filter((status) => status === 200);
  console.log(
    `${test.statuses.length} calls, ${answers} answered; ${streams} long streams; ${counted("unavailable")} outages, ` +
      `${counted("settle_kept")} settlements kept, ${counted("replayed")} replays`,
  );
  expect(new Set(test.statuses)).toEqual(new Set([200, 503]));
  expect(counted("unavailable")).toBeGreaterThan(0);
  expect((await test.verifyBooks(ledger)).usedMicro).toBeGreaterThan(0);
}

describe.runIf(hasRedisServer)("Redis", () => {
  it(`fails for ${seconds} s in all ways, and the books balance`, async () => {
    const server = await RedisServer.start("--appendonly", "yes", "--appendfsync", "always");
    ends.push(() => server.stop());
    const proxy = await TcpProxy.start(server.port);
    ends.push(() => proxy.close());
    const connect = (port: number) => {
      const client = new Redis(port, "127.0.0.1", { retryStrategy: () => 100 });
      client.on("error", () => {});
      ends.push(() => client.disconnect());
      return client;
    };
    const ledger = redisCreditLedger({ client: connect(proxy.port), journal: { entries: 1_000_000 } });
    const admin = connect(server.port);
    const kill = async () => {
      await server.kill();
      await sleep(Math.random() * 2_000);
      await server.restart();
    };
    await soak(await OutageTest.start(ledger), ledger, [...harmsOf(proxy), kill, () => admin.script("FLUSH")]);
  });
});

describeWithPostgres("PostgreSQL", (server) => {
  it(`fails for ${seconds} s in all ways, and the books balance`, async () => {
    const proxy = await TcpProxy.start(server.port);
    ends.push(() => proxy.close());
    const url = new URL(server.url);
    url.port = String(proxy.port);
    const pool = new pg.Pool({
      connectionString: url.href,
      max: 8,
      query_timeout: 3_000,
      connectionTimeoutMillis: 3_000,
    });
    pool.on("error", () => {});
    ends.push(() => pool.end());
    const { ledger } = postgresStores({ pool });
    const restart = async () => {
      await server.stop("immediate");
      await sleep(Math.random() * 1_000);
      await server.start();
    };
    const terminate = async () => {
      const admin = new pg.Client({ connectionString: server.url });
      admin.on("error", () => {});
      await admin.connect();
      await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()");
      await admin.end();
    };
    const exhaust = async () => {
      const taken = await Promise.allSettled(Array.from({ length: 8 }, () => pool.connect()));
      await sleep(1_000);
      for (const one of taken) if (one.status === "fulfilled") one.value.release(true);
    };
    await soak(await OutageTest.start(ledger), ledger, [...harmsOf(proxy), restart, terminate, exhaust]);
  });
});
