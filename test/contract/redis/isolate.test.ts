import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import type { IoredisClient } from "../../../src/stores/redis/redis-client.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { journalOf } from "../../support/journal-of.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { RequestBoundRuntime } from "../../support/request-bound-runtime.js";
import { RedisTest } from "./redis-test.js";

const requests = 200;

describe.runIf(hasRedisServer)("stores of which many requests of an isolate make use at once", () => {
  let redis: RedisTest;
  let runtime: RequestBoundRuntime;
  let serial = 0;

  beforeAll(async () => {
    redis = await RedisTest.start();
  });
  afterAll(() => redis?.stop());
  afterEach(() => runtime.uninstall());

  /** 200 requests, of which a third ends in the middle: as it reads its key, reserves, settles or gets a grant. */
  async function storm(isolate: boolean) {
    runtime = new RequestBoundRuntime();
    const { client: real } = redis;
    const client: IoredisClient = {
      evalsha: (...call) => runtime.tie(() => real.evalsha(...call)),
      eval: (...call) => runtime.tie(() => real.eval(...call) as Promise<unknown>),
    };
    const prefix = `storm-${++serial}`;
    const seed = redisStores({ client: real, prefix });
    const hash = hashKey("sk-1");
    await seed.keys.insert({ id: "k", hash, hint: "sk-…", account: "a", plan: "p", createdAt: 0 });
    await seed.plans.put({ id: "p", models: ["*"] });

    const stores = redisStores({ client, prefix, isolate });
    const { keys, plans, ledger, accounts } = stores;
    const account = new Fixture(new ManualClock(Date.now()), ledger, { month: 1_000_000 });
    const steps = [
      () => keys.find(hash),
      () => plans.find("p"),
      () => accounts.find("a"),
      () => account.reserve(10),
      (lease: never) => ledger.settle(lease, { amountMicro: 7 }),
      (_: never, id: number) =>
        ledger.grant({ id: `g${id}`, account: account.id, window: "month", amountMicro: 1, limits: account.limits }),
    ];
    let notices = 0;
    const unsubscribe = await seed.ledger.subscribe?.(() => void notices++);
    onTestFinished(() => unsubscribe?.());
    runtime.install();
    let finished = 0;
    const charged: string[] = [];
    const serve = (id: number) =>
      runtime.run(async (end) => {
        const last = id % 3 === 0 ? (id / 3) % steps.length : -1;
        let lease: { id: string } | undefined;
        for (const [index, step] of steps.entries()) {
          const under = step(lease as never, id) as Promise<{ lease?: { id: string } } | undefined>;
          if (index === last) end();
          lease = (await under)?.lease ?? lease;
        }
        charged.push(String(lease?.id));
        finished += 1;
      });
    const failures: unknown[] = [];
    for (let id = 0; id < requests; id++) {
      void serve(id).catch((error) => failures.push(error));
      if (id % 10 === 9) await turn();
    }
    // Until nothing more can come.
    for (let quiet = 0; quiet < 20; quiet++) {
      await turn();
      if (runtime.inFlight > 0) quiet = 0;
    }
    runtime.uninstall();
    const survivors = Array.from({ length: requests }, (_, id) => id).filter((id) => id % 3 !== 0).length;
    return { failures, finished, survivors, charged, account, seed, notices: () => notices };
  }

  it("finishes all that are not ended, each charged once", async () => {
    const { finished, survivors, failures, charged, account, seed, notices } = await storm(true);
    expect({ finished, failures }).toEqual({ finished: survivors, failures: [] });
    // Of each grant, whoever was cut off before.
    await expect.poll(notices).toBe(survivors);
    const entries = (await journalOf(seed.ledger, account.id)).filter(({ kind }) => kind === "charge");
    const ids = entries.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(charged));
    const { month } = (await seed.ledger.balance(account.id, account.limits)).windows;
    expect(month.usedMicro).toBe(7 * ids.length);
    // One ninth ends as it settles: that is sent, and counts.
    expect(ids.length).toBeGreaterThan(charged.length);
  });

  it("leaves some of them waiting for ever where it is not told so", async () => {
    const { finished, survivors } = await storm(false);
    expect(finished).toBeLessThan(survivors);
  });

  it("has no subscriptions, and ends at once", async () => {
    const stores = redisStores({ client: redis.client, isolate: true });
    for (const store of [
      stores.keys,
      stores.plans,
      stores.ledger,
      stores.accounts,
      stores.budgets,
      stores.modelStore,
    ]) {
      expect("subscribe" in store && store.subscribe !== undefined).toBe(false);
    }
    expect(redisStores({ client: redis.client }).keys.subscribe).toBeDefined();
    await stores.ledger.close?.();
  });

  it("bounds the time of each operation by a timer of its own", async () => {
    const client: IoredisClient = { evalsha: () => new Promise(() => {}), eval: () => new Promise(() => {}) };
    runtime = new RequestBoundRuntime();
    const { keys } = redisStores({ client, isolate: true, timeoutMs: 50 });
    runtime.install();
    void runtime.run(async (end) => {
      keys.find(hashKey("x")).catch(() => {});
      end();
    });
    await expect(runtime.run(() => keys.find(hashKey("y")))).rejects.toThrow("There was no response in time (50 ms).");
  });
});
