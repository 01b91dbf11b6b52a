import { afterEach, describe, it } from "vitest";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { FaultyProxy } from "../../support/faulty-proxy.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { spendThrough } from "../contracts/credit-ledger-network.js";
import { clients } from "./clients.js";

describe.runIf(hasRedisServer).each(clients)("the Redis ledger on a bad network, with %s", (_, connect) => {
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it("charges once what is repeated while connections are cut, reset and slow", async () => {
    const server = await RedisServer.start();
    ends.push(() => server.stop());
    const proxy = await FaultyProxy.start(server.port);
    ends.push(() => proxy.stop());
    const { client, end } = await connect(proxy.port);
    ends.push(end);
    await spendThrough(proxy, redisCreditLedger({ client, timeoutMs: 1_000 }));
  });
});
