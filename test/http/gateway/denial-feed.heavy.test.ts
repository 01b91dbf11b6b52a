import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { LedgerEvent } from "../../../src/ledger/guard/ledger-event.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { type Connected, connectIoredis, connectNodeRedis } from "../../contract/redis/clients.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { type Managed, type Stores, startManaged } from "./managed-suite.js";

const waiting = { timeout: 10_000, interval: 20 };

/** @param make - makes stores that share their data with those made before, as another process would. */
function describeDenialFeed(name: string, make: () => Stores): void {
  describe(name, () => {
    let open: Managed[] = [];
    afterEach(async () => {
      for (const test of open) await test.close();
      open = [];
    });

    /** A gateway that keeps a denial for a minute, unless a notice ends it. */
    async function start(): Promise<Managed & { ledgerEvents: LedgerEvent[] }> {
      const ledgerEvents: LedgerEvent[] = [];
      const test = await startManaged(make(), {
        ledgerOptions: { denialCacheMs: 60_000, reserveTimeoutMs: 2_000 },
        onLedgerEvent: (event) => ledgerEvents.push(event),
      });
      open.push(test);
      return { ...test, ledgerEvents };
    }

    it.each(["grant", "reset", "forget", "topUp", "plan", "another plan"] as const)(
      "%s: takes a denial back in another process",
      async (change) => {
        const [one, other] = [await start(), await start()];
        const [account, plan] = [unique("account"), unique("plan")];
        await one.gateway.plans.put({ id: plan, models: ["acme/*"], credits: { month: 1 } });
        const { secret } = await one.gateway.keys.create({ account, plan });
        expect(await one.call(secret)).toBe(200);
        await vi.waitFor(async () => {
          expect(await other.call(secret)).toBe(429);
          expect(other.ledgerEvents).toContainEqual({ type: "denied_again", account });
        }, waiting);

        const { accounts, keys, plans } = one.gateway;
        if (change === "topUp") await accounts.topUp(account, { id: unique("t"), credits: 1 });
        if (change === "plan") await plans.put({ id: plan, models: ["acme/*"], credits: { month: 2 } });
        if (change === "grant") await accounts.grant(account, { id: unique("g"), window: "month", amountMicro: 1e6 });
        if (change === "reset") await accounts.reset(account);
        let again = secret;
        if (change === "forget") {
          await accounts.forget(account);
          again = (await keys.create({ account, plan, anchor: null })).secret;
        }
        if (change === "another plan") {
          const larger = unique("plan");
          await plans.put({ id: larger, models: ["acme/*"], credits: { month: 2 } });
          again = (await keys.create({ account, plan: larger })).secret;
        }
        await vi.waitFor(async () => expect(await other.call(again)).toBe(200), waiting);
        expect(await one.call(again)).toBe(429);
      },
    );

    it("ends with the gateway", async () => {
      const test = await start();
      const [account, plan] = [unique("account"), unique("plan")];
      await test.gateway.plans.put({ id: plan, models: ["acme/*"], credits: { month: 1 } });
      const { secret } = await test.gateway.keys.create({ account, plan });
      expect(await test.call(secret)).toBe(200);
      expect(test.warnings).toEqual([]);
    });
  });
}

describe.runIf(hasRedisServer)("Redis", () => {
  let server: RedisServer;
  let connected: Connected[];
  let serial = 0;
  beforeAll(async () => {
    server = await RedisServer.start();
    connected = [await connectIoredis(server.port), await connectNodeRedis(server.port)];
  });
  afterAll(async () => {
    for (const { end } of connected ?? []) end();
    await server?.stop();
  });
  describeDenialFeed("Redis", () => redisStores({ client: (connected[serial++ % 2] as Connected).client }));
});

describeWithPostgres("PostgreSQL", (server) => {
  let pools: pg.Pool[];
  let serial = 0;
  beforeAll(() => {
    pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url, max: 10 }));
  });
  afterAll(() => Promise.all(pools.map((pool) => pool.end())));
  describeDenialFeed("PostgreSQL", () => postgresStores({ pool: pools[serial++ % 2] as pg.Pool }));
});

describe("a ledger that cannot be subscribed to", () => {
  it("is told once, and denies for no longer than it would without", async () => {
    const memory = memoryCreditLedger();
    const ledger = {
      ...memory,
      reserve: async (request: Parameters<typeof memory.reserve>[0]) => memory.reserve(request),
      subscribe: async () => {
        throw new Error("refused");
      },
    };
    const test = await startManaged({
      keys: memoryKeyStore([{ key: "sk-1", account: "a", plan: "small" }]),
      plans: memoryPlanStore({ small: { models: ["acme/*"], credits: { month: 1 } } }),
      ledger,
    });
    expect([await test.call("sk-1"), await test.call("sk-1"), await test.call("sk-1")]).toEqual([200, 429, 429]);
    expect(test.warnings).toMatchObject([
      { code: "change_feed_failed", message: expect.stringMatching(/^The ledger .*denialCacheMs/) },
    ]);
    await test.close();
  });
});
