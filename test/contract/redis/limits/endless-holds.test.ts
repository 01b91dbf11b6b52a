import { describe, expect, it } from "vitest";
import { day, type Fixture, hour, monthEnd, second, start } from "../../../../src/testing/credit-ledger-fixture.js";
import { capOf, creditsNow, topUp } from "../../../../src/testing/credit-limits/limits-fixture.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { emptyRedis } from "../empty-redis.js";

describe.runIf(hasRedisServer)("what leases in Redis hold of limits that do not end", () => {
  const redis = emptyRedis();
  const client = () => redis().client;

  /** Time passes for the account and for all keys. */
  async function pass({ clock }: Fixture, ms: number): Promise<void> {
    clock.advance(ms);
    for (const key of await client().keys("*")) {
      const left = await client().pttl(key);
      if (left < 0) continue;
      if (left <= ms) await client().del(key);
      else await client().pexpire(key, left - ms);
    }
  }

  it("comes back from a process that died, however late the account is used again", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, 100);
    const cap = capOf(account, "total", 100);
    const lease = await account.admit(60, { caps: [cap] });
    await account.ledger.renew([{ lease, observedMicro: 25, leaseMs: 60 * second }]);
    await pass(account, 80 * day);
    const after = { prepaid: { balanceMicro: 75, heldMicro: 0 }, caps: [{ usedMicro: 25, heldMicro: 0 }] };
    expect(await creditsNow(account, { caps: [cap] })).toMatchObject(after);
    await account.ledger.release(await account.admit(75));
    expect(await creditsNow(account, { caps: [cap] })).toMatchObject(after);
  });

  it("comes back to a cap that never ends, though the plan paid", async () => {
    const account = redis().accountAt();
    await account.admit(1);
    const cap = capOf(account, "total", 100);
    await account.admit(60, { caps: [cap] });
    await account.admit(1);
    await pass(account, monthEnd - start + 32 * day);
    expect(await creditsNow(account, { caps: [cap] })).toMatchObject({ caps: [{ usedMicro: 0, heldMicro: 0 }] });
    await account.admit(1, { caps: [capOf(account, "total", 100)] });
    expect(await creditsNow(account, { caps: [cap] })).toMatchObject({ caps: [{ usedMicro: 0, heldMicro: 1 }] });
  });

  it("comes back from the calls of an account that always has one open, all of them short", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, 1_000);
    let last = await account.admit(10, { leaseMs: 900 * second });
    for (let passed = 0; passed < 2 * day; passed += hour / 6) {
      await pass(account, hour / 6);
      const next = await account.admit(10, { leaseMs: 900 * second });
      expect((await account.ledger.settle(last, { amountMicro: 1 })).status).toBe("settled");
      last = next;
    }
    await account.ledger.release(last);
    expect((await creditsNow(account)).prepaid).toMatchObject({ heldMicro: 0 });
  });

  it("leaves keys without an end no longer than prepaid credits are there", async () => {
    const account = redis().accountAt(start, { session: 0 });
    await topUp(account, 10);
    const lease = await account.admit(10);
    const [leases = ""] = await client().keys("*:leases");
    expect(await client().pttl(leases)).toBe(-1);
    await account.ledger.settle(lease, { amountMicro: 10 });
    const { session, ...calendar } = account.limits;
    await account.admit(1, { limits: { session: { ...session, limitMicro: 5 }, ...calendar } });
    for (const key of await client().keys("*")) {
      if (!key.endsWith(":prepaid")) expect(await client().pttl(key)).toBeGreaterThan(0);
    }
  });
});
