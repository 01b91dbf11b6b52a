import { Redis } from "ioredis";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type CreditLedger, type Lease, windowNames } from "../../../src/ledger/credit-ledger.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { everywhere, Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { foldUse } from "../../../src/testing/credit-ledger-journal/journal-tests.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { journalOf } from "../../support/journal-of.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";

interface Node {
  server: RedisServer;
  client: Redis;
  ledger: CreditLedger;
}

describe.runIf(hasRedisServer)("the Redis ledger after the loss of a server", () => {
  const nodes: Node[] = [];

  afterEach(async () => {
    for (const { client, server } of nodes.splice(0)) {
      client.disconnect();
      await server.stop();
    }
  });

  async function start(...args: string[]): Promise<Node> {
    const server = await RedisServer.start(...args);
    const client = new Redis(server.port, "127.0.0.1");
    client.on("error", () => {});
    const node = { server, client, ledger: redisCreditLedger({ client, timeoutMs: 10_000 }) };
    nodes.push(node);
    return node;
  }

  /** Settlements that a gateway keeps for a while to send them again. */
  const replay = (ledger: CreditLedger, settled: readonly [Lease, number][], since: number) =>
    Promise.all(
      settled.map(([lease, amount]) => ledger.settle(lease, { amountMicro: amount, mayBeDuplicateSince: since })),
    );

  it.each(["a replica that lags", "an empty server"])("restores the exact sum on %s", async (kind) => {
    // It would wait for other replicas first.
    const master = await start("--repl-diskless-sync-delay", "0");
    const other = await start();
    if (kind === "a replica that lags") await other.client.replicaof("127.0.0.1", master.server.port);
    const account = new Fixture(new ManualClock(Date.now()), master.ledger, {});
    const since = Date.now();
    const settled: [Lease, number][] = [];
    async function settle(lease: Lease, amount: number): Promise<void> {
      await account.ledger.settle(lease, { amountMicro: amount });
      settled.push([lease, amount]);
    }

    for (let amount = 1; amount <= 50; amount++) await settle(await account.admit(100), amount);
    const open = await Promise.all(Array.from({ length: 50 }, () => account.admit(100)));
    if (kind === "a replica that lags") {
      await master.client.wait(1, 5_000);
      await other.client.replicaof("NO", "ONE");
    }
    // What follows is acknowledged, and lost with the master.
    for (const [index, lease] of open.entries()) await settle(lease, 1_000 + index);
    for (let amount = 1; amount <= 50; amount++) await settle(await account.admit(100), amount * 7);
    const exact = settled.reduce((sum, [, amount]) => sum + amount, 0);
    expect(await account.counts()).toEqual(everywhere(exact, 0));
    await master.server.kill();

    const after = new Fixture(account.clock, other.ledger, {});
    Object.assign(after, { id: account.id });
    expect((await after.windows()).month.usedMicro).toBeLessThan(exact);
    const statuses = (await replay(other.ledger, settled, since)).map(({ status }) => status);
    const count = (status: string) => statuses.filter((one) => one === status).length;
    expect([count("duplicate"), count("settled"), count("recovered")]).toEqual(
      kind === "an empty server" ? [0, 0, 150] : [50, 50, 50],
    );
    expect(await after.counts()).toEqual(everywhere(exact, 0));

    const again = await replay(other.ledger, settled, since);
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set(["duplicate"]));
    expect(await after.counts()).toEqual(everywhere(exact, 0));
  });

  it("has whole operations only after a crash under load", async () => {
    const { server, client, ledger } = await start("--appendonly", "yes", "--appendfsync", "everysec");
    const accounts = Array.from({ length: 10 }, () => new Fixture(new ManualClock(Date.now()), ledger, {}));
    let isOver = false;
    let charged = 0;
    let calls = 0;
    const load = Array.from({ length: 64 }, async (_, index) => {
      const account = accounts[index % accounts.length] as Fixture;
      while (!isOver) {
        const request = account.request(1 + (index % 7));
        const lease = await untilDone(async () => {
          const result = await ledger.reserve(request);
          return result.ok ? result.lease : undefined;
        });
        if (!lease) throw new Error("Nothing is limited here.");
        const since = Date.now();
        await untilDone(() => ledger.settle(lease, { amountMicro: lease.amountMicro, mayBeDuplicateSince: since }));
        charged += lease.amountMicro;
        calls++;
      }
    });
    /** Until it is under load again. */
    const callOn = (more: number, since = calls) => vi.waitUntil(() => calls > since + more, { timeout: 50_000 });
    for (let crash = 0; crash < 3; crash++) {
      await callOn(200);
      await server.kill();
      await server.restart();
      await server.rewriteLog();
    }
    await callOn(200);
    isOver = true;
    await Promise.all(load);

    let used = 0;
    for (const account of accounts) {
      const windows = await account.windows();
      const entries = await journalOf(ledger, account.id);
      for (const window of windowNames) {
        // A session that was lost with its first call is not taken up again where another one has begun since.
        const booked = foldUse(entries.toReversed(), window, windows[window].startsAt);
        expect({ window, used: windows[window].usedMicro }).toEqual({ window, used: booked });
      }
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      used += windows.month.usedMicro;
    }
    // What was acknowledged in the moment before a crash may not be on disk; nothing was charged twice.
    expect(used).toBeLessThanOrEqual(charged);
    expect(used).toBeGreaterThan(charged * 0.5);
    expect(client.status).toBe("ready");
  });
});

async function untilDone<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
