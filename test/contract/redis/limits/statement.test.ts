import { describe, expect, it } from "vitest";
import { connectionOf } from "../../../../src/stores/redis/redis-connection.js";
import { creditLedgerOn } from "../../../../src/stores/redis/redis-credit-ledger.js";
import { Fixture, second, start, unique } from "../../../../src/testing/credit-ledger-fixture.js";
import { topUp } from "../../../../src/testing/credit-limits/limits-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { emptyRedis } from "../empty-redis.js";
import { runAt, shiftedScripts } from "../store-clock.js";

const redis = emptyRedis();

/** An account, and what happens after the first page of its journal that is read. */
function interrupted() {
  const clock = new ManualClock(start);
  const { run, ...rest } = connectionOf({ client: redis().client, prefix: "test", timeoutMs: 20_000 });
  const between: { happens?: (() => Promise<unknown>) | undefined } = {};
  const ledger = creditLedgerOn(
    {
      run: async (script, keys, args) => {
        const reply = await runAt(run, clock)(script, keys, args);
        const happens = script === shiftedScripts.history ? between.happens : undefined;
        if (happens !== undefined) between.happens = undefined;
        await happens?.();
        return reply;
      },
      ...rest,
    },
    { journal: { entries: 700 } },
    shiftedScripts,
  );
  const account = new Fixture(clock, ledger, { month: 0 });
  const payOneASecond = async (calls: number) => {
    const lease = await account.admit(1);
    for (let call = 0; call < calls; call++) {
      clock.advance(second);
      await ledger.settle({ ...lease, id: unique("call") }, { amountMicro: 1 });
    }
  };
  return { account, between, payOneASecond };
}

describe.runIf(hasRedisServer)("a statement", () => {
  it("is of what is kept, when calls push entries out of the journal while it is read", async () => {
    const { account, between, payOneASecond } = interrupted();
    await topUp(account, 10_000);
    await payOneASecond(650);
    between.happens = () => payOneASecond(400);
    const { from, prepaid } = (await account.ledger.statement?.({ account: account.id })) ?? {};
    expect(from).toBeGreaterThan(start);
    const before = Math.floor(((from ?? 0) - start - 1) / second);
    const [openingMicro, closingMicro] = [10_000 - before, 10_000 - 650];
    expect(prepaid).toMatchObject({ openingMicro, usedMicro: 650 - before, closingMicro });
  });

  it("is of the account as it begins anew, when it is forgotten while its journal is read", async () => {
    const { account, between, payOneASecond } = interrupted();
    const { ledger, id } = account;
    await topUp(account, 10_000);
    await payOneASecond(650);
    between.happens = async () => {
      account.clock.advance(second);
      await ledger.forget(id);
      await topUp(account, 7);
    };
    expect((await ledger.statement?.({ account: id }))?.prepaid).toMatchObject({ openingMicro: 0, closingMicro: 7 });
  });
});
