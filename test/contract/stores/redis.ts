import { Redis as UpstashRedis } from "@upstash/redis";
import { Redis } from "ioredis";
import { redisAuditTrail } from "../../../src/stores/redis/redis-audit-trail.js";
import { fromUpstash, type RedisClient } from "../../../src/stores/redis/redis-client.js";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import { RedisRecordStore } from "../../../src/stores/redis/redis-record-store.js";
import { redisRequestLog } from "../../../src/stores/redis/redis-request-log.js";
import { redisResponseCache } from "../../../src/stores/redis/redis-response-cache.js";
import {
  makeResponseScripts,
  redisResponseStore,
  responseStoreOn,
} from "../../../src/stores/redis/redis-response-store.js";
import {
  redisAccountStore,
  redisBudgetStore,
  redisKeyStore,
  redisModelStore,
  redisPlanStore,
  redisStores,
} from "../../../src/stores/redis/redis-stores.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { UpstashServer } from "../../support/upstash-server.js";
import { type Connected, clients } from "../redis/clients.js";
import { ledgerAt } from "../redis/redis-test.js";
import { runAt } from "../redis/store-clock.js";
import type { StoreUnderTest } from "./store-under-test.js";

/** With the time that comes with each call. */
const responseScripts = makeResponseScripts("local now = tonumber(ARGV[#ARGV])");
const timeoutMs = 20_000;

/** All stores over two clients of one server. */
export function redisOn(name: string, clientsOf: () => readonly [RedisClient, RedisClient]): StoreUnderTest {
  let serial = 0;
  const two = <Store>(make: (options: { client: RedisClient; timeoutMs: number }, index: number) => Store) => {
    const [one, other] = clientsOf();
    return [make({ client: one, timeoutMs }, 0), make({ client: other, timeoutMs }, 1)] as const;
  };
  return {
    name,
    isHere: hasRedisServer,
    records: () => two((options) => new RedisRecordStore(connectionOf(options))),
    // One as most hosts have them, and one by one.
    stores() {
      const [one, other] = two((options) => options);
      return [
        redisStores(one),
        {
          keys: redisKeyStore(other),
          plans: redisPlanStore(other),
          accounts: redisAccountStore(other),
          budgets: redisBudgetStore(other),
          modelStore: redisModelStore(other),
        },
      ];
    },
    emptyStores: () => redisStores({ client: clientsOf()[0], timeoutMs, prefix: `empty-${++serial}` }),
    ledger: (clock) => ledgerAt(clock, clientsOf()[0]),
    ledgerOptions: { ids: "per account", holds: 1_000 },
    audit(limits) {
      const prefix = `audit-${++serial}`;
      return two((options) => redisAuditTrail({ ...options, prefix, ...limits }));
    },
    requestLog: (limits) => redisRequestLog({ client: clientsOf()[0], timeoutMs, ...limits }),
    responses: (clock) =>
      two((options) => {
        const { run } = connectionOf(options);
        return responseStoreOn({ run: runAt(run, clock), prefix: "test" }, {}, responseScripts);
      }),
    boundedResponses: (limits) =>
      two((options, index) =>
        index === 0
          ? redisResponseStore({ ...options, ...limits })
          : redisStores({ ...options, responses: limits }).responses,
      ),
    responseCache: () => two(redisResponseCache),
  };
}

/** A server of its own, with a client of one of the libraries. */
export function redis(library: (typeof clients)[number][0]): StoreUnderTest {
  const [, connect] = clients.find(([name]) => name === library) as (typeof clients)[number];
  let server: RedisServer;
  let connected: [Connected, Connected];
  let admin: Redis;
  let serial = 0;
  const isFirst = library === "ioredis";
  return {
    ...redisOn(`Redis with ${library}`, () => [connected[0].client, connected[1].client]),
    async start() {
      server = await RedisServer.start();
      connected = [await connect(server.port), await connect(server.port)];
      admin = new Redis(server.port, "127.0.0.1");
    },
    async stop() {
      for (const { end } of connected ?? []) end();
      admin?.disconnect();
      await server?.stop();
    },
    models() {
      const prefix = `models-${++serial}`;
      const write = async (texts: readonly (readonly [id: string, text: string])[]) => {
        await admin.hset(`${prefix}:{model}:model`, Object.fromEntries(texts));
        await admin.zadd(`${prefix}:{model}:model:order`, ...texts.flatMap(([id]) => [0, `\n${id}`]));
      };
      return {
        store: redisModelStore({ client: connected[0].client, prefix, timeoutMs }),
        write: (id, text) => write([[id, text]]),
        fill: (count) =>
          write(
            Array.from({ length: count }, (_, index) => [`full/${index + 1}`, `{"id":"full/${index + 1}"}`] as const),
          ),
      };
    },
    ledgerOptions: { ids: "per account", holds: isFirst ? 10_000 : 1_000 },
    ledgerRuns: isFirst ? 20 : 10,
    responseRuns: 50,
  };
}

export function upstashClient({ url, token }: UpstashServer): RedisClient {
  return fromUpstash(new UpstashRedis({ url, token, automaticDeserialization: false }));
}

/** Over Upstash's REST API. */
export function upstash(): StoreUnderTest {
  let server: RedisServer;
  let rest: UpstashServer;
  const client = () => upstashClient(rest);
  return {
    ...redisOn("Redis over Upstash's REST API", () => [client(), client()]),
    async start() {
      server = await RedisServer.start();
      rest = await UpstashServer.start(server.port);
    },
    async stop() {
      await rest?.stop();
      await server?.stop();
    },
    ledgerOptions: { ids: "per account", holds: 300 },
    ledgerRuns: 2,
  };
}
