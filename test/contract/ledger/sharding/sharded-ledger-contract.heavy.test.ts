import { afterAll, beforeAll, describe } from "vitest";
import type { Clock } from "../../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { shardedLedger } from "../../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { describeCreditLedger } from "../../../../src/testing/describe-credit-ledger.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";
import { ledgerAt, RedisTest } from "../../redis/redis-test.js";

const names = ["one", "two"] as const;

const shardedOver = (make: (clock: Clock, shard: (typeof names)[number]) => CreditLedger) => (clock: Clock) =>
  shardedLedger({ shards: Object.fromEntries(names.map((shard) => [shard, make(clock, shard)])) });

const overMemory = shardedOver((clock) => memoryCreditLedger({ clock }));
describeCreditLedger("shardedLedger of memory", overMemory, { ids: "per account", limits: true, holds: 1_000 });
describeCreditLedgerModel("shardedLedger of memory", overMemory, { runs: 50 });

describe.runIf(hasRedisServer)("on two Redis servers", () => {
  let one: RedisTest;
  let two: RedisTest;

  beforeAll(async () => {
    [one, two] = await Promise.all([RedisTest.start(), RedisTest.start()]);
  });

  afterAll(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
  });

  // What is in another process has other types of its own: the histories have all operations.
  describeCreditLedgerModel(
    "shardedLedger of Redis",
    shardedOver((clock, shard) => ledgerAt(clock, (shard === "one" ? one : two).client)),
    { runs: 10 },
  );
});
