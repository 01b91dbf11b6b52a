import { Redis } from "@upstash/redis";
import { afterAll, beforeAll, describe } from "vitest";
import type { StoredAccount } from "../../../src/records/accounts/account-store.js";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { redisAuditTrail } from "../../../src/stores/redis/redis-audit-trail.js";
import { fromUpstash } from "../../../src/stores/redis/redis-client.js";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import { redisRequestLog } from "../../../src/stores/redis/redis-request-log.js";
import { redisResponseCache } from "../../../src/stores/redis/redis-response-cache.js";
import { makeResponseScripts, responseStoreOn } from "../../../src/stores/redis/redis-response-store.js";
import {
  redisAccountStore,
  redisBudgetStore,
  redisKeyStore,
  redisModelStore,
  redisPlanStore,
} from "../../../src/stores/redis/redis-stores.js";
import { describeWritableBudgetStore } from "../../../src/testing/budget-store/describe-writable-budget-store.js";
import { describeAccountStore } from "../../../src/testing/describe-account-store.js";
import { describeAuditTrail } from "../../../src/testing/describe-audit-trail.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeKeyStore } from "../../../src/testing/describe-key-store.js";
import { describePlanStore, describeWritablePlanStore } from "../../../src/testing/describe-plan-store.js";
import { describeResponseStore } from "../../../src/testing/describe-response-store.js";
import { describeWritableAccountStore } from "../../../src/testing/describe-writable-account-store.js";
import { describeWritableKeyStore } from "../../../src/testing/describe-writable-key-store.js";
import { describeModelStore } from "../../../src/testing/model-store/describe-model-store.js";
import { describeRequestLog } from "../../../src/testing/request-log/describe-request-log.js";
import { describeResponseCacheStore } from "../../../src/testing/response-store/describe-response-cache-store.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { UpstashServer } from "../../support/upstash-server.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";
import { ledgerAt } from "./redis-test.js";
import { runAt } from "./store-clock.js";

const shiftedScripts = makeResponseScripts("local now = tonumber(ARGV[#ARGV])");

// On Node as it is, and as in an isolate.
describe.runIf(hasRedisServer).each([false, true])("over Upstash's REST API, isolate: %s", (isolate) => {
  let redis: RedisServer;
  let upstash: UpstashServer;
  let serial = 0;

  beforeAll(async () => {
    redis = await RedisServer.start();
    upstash = await UpstashServer.start(redis.port);
  });
  afterAll(async () => {
    await upstash?.stop();
    await redis?.stop();
  });

  const client = () =>
    fromUpstash(new Redis({ url: upstash.url, token: upstash.token, automaticDeserialization: false }));
  const shared = () => ({ client: client(), timeoutMs: 20_000, isolate });
  const apart = () => ({ ...shared(), prefix: `test-${++serial}` });
  const two = <Store>(make: (options: ReturnType<typeof shared>) => Store): [Store, Store] => [
    make(shared()),
    make(shared()),
  ];

  describeCreditLedger("redisCreditLedger", (clock) => ledgerAt(clock, client(), undefined, isolate), {
    ids: "per account",
    limits: true,
    holds: 300,
  });
  describeCreditLedgerModel("redisCreditLedger", (clock) => ledgerAt(clock, client(), undefined, isolate), { runs: 2 });
  // The others differ in nothing but their timers.
  if (isolate) return;
  describeKeyStore("redisKeyStore", async (keys) => {
    const store = redisKeyStore(apart());
    for (const { key, expiresAt, revokedAt, anchor, ...rest } of keys) {
      const moments = { expiresAt: epoch(expiresAt), revokedAt: epoch(revokedAt), anchor: epoch(anchor) };
      await store.insert({ ...rest, hash: hashKey(key), hint: "sk-…", createdAt: 0, ...moments });
    }
    return store;
  });
  describeWritableKeyStore("redisKeyStore", async () => two(redisKeyStore));
  describePlanStore("redisPlanStore", async (plans) => {
    const store = redisPlanStore(apart());
    for (const plan of plans) await store.put(plan);
    return store;
  });
  describeWritablePlanStore("redisPlanStore", async () => two(redisPlanStore));
  describeAccountStore("redisAccountStore", async (accounts) => {
    const store = redisAccountStore(apart());
    for (const account of accounts) await store.put(account as StoredAccount);
    return store;
  });
  describeWritableAccountStore("redisAccountStore", async () => two(redisAccountStore));
  describeWritableBudgetStore("redisBudgetStore", async () => two(redisBudgetStore));
  describeModelStore("redisModelStore", async () => two(redisModelStore));
  describeAuditTrail("redisAuditTrail", async (limits) => {
    const options = { ...apart(), ...limits };
    return [redisAuditTrail(options), redisAuditTrail({ ...options, client: client() })];
  });
  describeRequestLog("redisRequestLog", (limits) => redisRequestLog({ ...shared(), ...limits }));
  describeResponseCacheStore("redisResponseCache", () => two(redisResponseCache));
  describeResponseStore("redisResponseStore", (clock) => {
    const { run } = connectionOf(shared());
    return responseStoreOn({ run: runAt(run, clock), prefix: "test" }, { ttlMs: 30 * 86_400_000 }, shiftedScripts);
  });
});

function epoch(instant: Date | number | string | null | undefined): number | null | undefined {
  return instant instanceof Date || typeof instant === "string" ? new Date(instant).getTime() : instant;
}
