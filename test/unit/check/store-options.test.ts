import { expect, it } from "vitest";
import * as postgres from "../../../src/postgres.js";
import * as redis from "../../../src/redis.js";
import * as sqlite from "../../../src/sqlite.js";
import { memoryAuditTrail } from "../../../src/stores/memory/memory-audit-trail.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import { memoryResponseStore } from "../../../src/stores/memory/memory-response-store.js";

type Make = (options: never) => unknown;

const { postgresStores, postgresCreditLedger } = postgres;
const { redisStores, redisCreditLedger, redisResponseCache } = redis;
const { sqliteStores, sqliteRequestLog } = sqlite;
const pool = { query: () => {} };
const client = { eval: () => {}, evalsha: () => {} };

it.each<[Make, object, RegExp]>([
  [postgresStores, { listn: false }, /^postgresStores: There is no option `listn` \(did you mean `listen`\?\)\.$/],
  [postgresStores, { retention: 5 }, /`retention` \(did you mean `retentionMs`\?\)/],
  [redisStores, { prefx: "a" }, /^redisStores: There is no option `prefx` \(did you mean `prefix`\?\)\.$/],
  [
    sqliteStores,
    { durabilty: "full" },
    /^sqliteStores: There is no option `durabilty` \(did you mean `durability`\?\)\.$/,
  ],
  [sqliteStores, { path: "x.db" }, /^sqliteStores: There is no option `path` \(there are `database`, `durability`, /],
  [postgresStores, { pool, responses: { ttl: 5 } }, /^postgresStores: responses: There is no option `ttl`/],
  [redisStores, { client, audit: { maxDay: 5 } }, /audit: There is no option `maxDay` \(did you mean `maxDays`\?\)/],
  [sqliteStores, { requestLog: { rows: 5 } }, /requestLog: There is no option `rows`/],
  [sqliteRequestLog, { maxDay: 5 }, /^sqliteRequestLog: There is no option `maxDay` \(did you mean `maxDays`\?\)/],
  [redisResponseCache, { allowEviction: true }, /^redisResponseCache: There is no option `allowEviction`/],
  [postgresCreditLedger, { pool, batch: { inflight: 5 } }, /^batch: There is no option `inflight`/],
  [redisCreditLedger, { client, journal: { day: 5 } }, /^journal: There is no option `day` \(did you mean `days`\?\)/],
  [redisCreditLedger, { client, batch: { operation: 5 } }, /^batch: There is no option `operation`/],
])("a misspelled option of stores is refused: %o with %o", (make, options, message) => {
  expect(() => make(options as never)).toThrow(message);
});

/** All that make stores, or one of them, whatever they are called. */
const makers = [
  ...[postgres, redis, sqlite].flatMap((entry) => Object.entries(entry)),
  ...Object.entries({ memoryAuditTrail, memoryCreditLedger, memoryRequestLog, memoryResponseStore }),
].filter(([name]) => /^(postgres|redis|sqlite|memory)[A-Z]/.test(name)) as [string, Make][];

it.each(makers)("%s refuses what is no option of its", (name, make) => {
  expect(() => make({ wrongName: 1 } as never)).toThrow(new RegExp(`^${name}: There is no option \`wrongName\``));
});

it("there are as many as three databases have", () => {
  expect(makers.length).toBeGreaterThan(30);
});
