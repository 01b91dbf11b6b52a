import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RedisClient } from "../../../src/stores/redis/redis-client.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { TcpProxy } from "../../support/tcp-proxy.js";

// What docs/stores.md says of ioredis when its connection is dead without a word, as behind a firewall that has forgotten it.
describe.runIf(hasRedisServer)("a connection that died without a word", () => {
  const ends: (() => unknown)[] = [];
  let proxy: TcpProxy;
  beforeEach(async () => {
    const server = await RedisServer.start();
    ends.push(() => server.stop());
    proxy = await TcpProxy.start(server.port);
    ends.push(() => proxy.close());
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  async function spendOn(client: RedisClient): Promise<() => Promise<string>> {
    const one = new Fixture(new ManualClock(Date.now()), redisCreditLedger({ client, timeoutMs: 200 }), {});
    const spend = () =>
      one.spend(1).then(
        () => "spent",
        ({ message }: Error) => message,
      );
    await expect.poll(spend).toBe("spent");
    proxy.strand();
    return spend;
  }

  function ioredis(options: { socketTimeout?: number; commandTimeout?: number }): Redis {
    const client = new Redis(proxy.port, "127.0.0.1", options);
    client.on("error", () => {});
    ends.push(() => client.disconnect());
    return client;
  }

  it("is left by ioredis with socketTimeout", async () => {
    const spend = await spendOn(ioredis({ socketTimeout: 1_000 }));
    expect(await spend()).toContain("no response in time");
    await expect.poll(spend).toBe("spent");
  });

  it("is kept by ioredis with commandTimeout", async () => {
    const client = ioredis({ commandTimeout: 100 });
    const spend = await spendOn(client);
    const { stream } = client as object as { stream: unknown };
    for (let count = 0; count < 5; count++) expect(await spend()).toContain("Command timed out");
    expect((client as object as { stream: unknown }).stream).toBe(stream);
  });
});
