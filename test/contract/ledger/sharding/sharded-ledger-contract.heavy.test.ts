import { afterAll, beforeAll, describe } from "vitest";
import type { Clock } from "../../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { shardedLedger } from "../../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { sqliteCreditLedger } from "../../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { describeCreditLedger } from "../../../../src/testing/describe-credit-ledger.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";
import { ledgerAt, RedisTest } from "../../redis/redis-test.js";
import { DatabaseFolder } from "../../sqlite/open-database.js";

const names = ["one", "two"] as const;

function describeSharded(
  name: string,
  make: (clock: Clock, shard: (typeof names)[number]) => CreditLedger,
  runs: number,
) {
  const sharded = (clock: Clock) =>
    shardedLedger({ shards: Object.fromEntries(names.map((shard) => [shard, make(clock, shard)])) });
  describeCreditLedger(`shardedLedger of ${name}`, sharded, { ids: "per account", limits: true, holds: 1_000 });
  describeCreditLedgerModel(`shardedLedger of ${name}`, sharded, { runs });
}

describeSharded("memory", (clock) => memoryCreditLedger({ clock }), 50);

describe("on SQLite", () => {
  const folders = { one: new DatabaseFolder(), two: new DatabaseFolder() };
  const databases = { one: folders.one.open(), two: folders.two.open() };
  afterAll(() => {
    for (const folder of Object.values(folders)) folder.remove();
  });

  describeSharded("SQLite", (clock, shard) => sqliteCreditLedger({ database: databases[shard], clock }), 20);
});

describe.runIf(hasRedisServer)("on two Redis servers", () => {
  let one: RedisTest;
  let two: RedisTest;

  beforeAll(async () => {
    [one, two] = await Promise.all([RedisTest.start(), RedisTest.start()]);
  });

  afterAll(async () => {
    await Promise.all([one?.stop(), two?.stop()]);
  });

  describeSharded("Redis", (clock, shard) => ledgerAt(clock, (shard === "one" ? one : two).client), 10);
});
