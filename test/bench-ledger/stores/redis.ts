import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { makeScript } from "../../../src/stores/redis/script.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import type { OpenStore, Pair } from "../benched-store.js";
import { tags } from "../ledger-pair.js";

export const openRedis: OpenStore = async () => {
  if (!hasRedisServer) return undefined;
  const server = await RedisServer.start();
  const client = new Redis(server.port, "127.0.0.1");
  const ledger = redisCreditLedger({ client });
  return {
    ledger,
    inFlight: 64,
    raw: rawPair(client),
    async bytesPerAccount() {
      const keys: string[] = [];
      for (let cursor = "0"; keys.length < 100; ) {
        const [next, found] = await client.scan(cursor, "MATCH", "infergate:{*}", "COUNT", 1_000);
        keys.push(...found);
        if (next === "0") break;
        cursor = next;
      }
      const bytes = await Promise.all(keys.map(async (key) => Number(await client.memory("USAGE", key))));
      return bytes.reduce((sum, one) => sum + one, 0) / keys.length;
    },
    async close() {
      await ledger.close();
      client.disconnect();
      await server.stop();
    },
  };
};

/** The commands of a reservation, with values and an answer of the same sizes. */
const reserve = makeScript(`
local account, holds, leases, own = KEYS[1], KEYS[2], KEYS[3], KEYS[6]
local id, packedAccount, packedLease = ARGV[2], ARGV[3], ARGV[4]
local now = redis.call('TIME')[1] * 1000
redis.call('GET', account)
redis.call('HGET', holds, id)
redis.call('GET', own)
redis.call('HSET', holds, id, packedLease)
redis.call('ZADD', leases, now + 60000, id)
redis.call('SET', account, packedAccount, 'PX', 5000000000)
if redis.call('ZCARD', leases) == 1 then
  redis.call('PEXPIRE', holds, 5000000000)
  redis.call('PEXPIRE', leases, 5000000000)
end
return { 'admitted', now, now, now, 1, 1, 0, now, now, 1, 1, 0, now, now, 1, 1, 0 }
`);

/** The commands of a settlement. */
const settle = makeScript(`
local account, holds, leases, journal, own = KEYS[1], KEYS[2], KEYS[3], KEYS[5], KEYS[6]
local id, packedAccount, packedLease, numbers, tags = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local now = redis.call('TIME')[1] * 1000
redis.call('GET', account)
redis.call('HGET', holds, id)
redis.call('XADD', journal, 'MAXLEN', '~', 10000, '*', 'id', id, 'kind', 'charge', 'numbers', numbers, 'tags', tags)
redis.call('SET', own, packedLease, 'PX', 120000)
redis.call('HDEL', holds, id)
redis.call('ZREM', leases, id)
redis.call('SET', account, packedAccount, 'PX', 5000000000)
return { 'settled', now, now, now, 1, 1, 0, now, now, 1, 1, 0, now, now, 1, 1, 0 }
`);

/** What the ledger sends as JSON: limits and bounds. */
const sizeOfArguments = 220;

function rawPair(client: Redis): Pair {
  const args = "0".repeat(sizeOfArguments);
  const [packedAccount, packedLease, numbers] = [19, 11, 5].map((count) => Buffer.alloc(8 * count, 1)) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  const json = JSON.stringify(tags);
  const taught = Promise.all([reserve, settle].map(({ text }) => client.script("LOAD", text)));
  return async (accountId) => {
    await taught;
    const id = randomUUID();
    const account = `raw:{${accountId.padEnd(22, "_")}}`;
    const parts = ["holds", "leases", "expired", "journal", `ended:${id}`].map((part) => `${account}:${part}`);
    const fixed = [account, ...parts, args, id, packedAccount, packedLease] as const;
    await client.evalsha(reserve.sha1, 6, ...fixed);
    await client.evalsha(settle.sha1, 6, ...fixed, numbers, json);
  };
}
