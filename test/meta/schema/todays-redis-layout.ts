import type { Redis } from "ioredis";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import { creditLedgerOn } from "../../../src/stores/redis/redis-credit-ledger.js";
import { redisStores } from "../../../src/stores/redis/redis-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { runAt, shiftedScripts } from "../../contract/redis/store-clock.js";
import { dumpRedis } from "./dump-redis.js";
import { redisLayout } from "./redis-layout.js";
import { writeBooks } from "./write-books.js";

/** The layout of books that the code of today writes. @param client - of a server of its own, which is empty. */
export async function todaysRedisLayout(client: Redis): Promise<string> {
  const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 31));
  const { run, ...rest } = connectionOf({ client, timeoutMs: 20_000 });
  const ledger = creditLedgerOn({ run: runAt(run, clock), ...rest }, {}, shiftedScripts);
  const { keys, plans, accounts, responses, budgets, modelStore } = redisStores({ client });
  const passing = { now: () => clock.now(), pass: (ms: number) => clock.advance(ms) };
  await writeBooks({ ledger, keys, plans, accounts, responses, budgets, modelStore }, passing);
  await ledger.close();
  return redisLayout(await dumpRedis(client));
}
