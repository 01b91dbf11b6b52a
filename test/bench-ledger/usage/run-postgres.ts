/**
 * Measures how long the PostgreSQL ledger sums up 13 months of an account, with 4,000 and with 40,000 sums, before its days
 * are sliced and after that. No store is compared with, so there is no target.
 * Flags: --runs 11
 */
import { parseArgs } from "node:util";
import pg from "pg";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { dayOf } from "../../../src/ledger/usage/usage-sums.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { median } from "../measure.js";

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const days = 400;
const callsPerDay = 25_000;
const today = Math.floor(Date.now() / dayMs);
const [first, last] = [today - days, today - 1];

const { values } = parseArgs({
  options: { runs: { type: "string", default: "11" } },
});
const server = new TemporaryServer({ jit: "on", shared_buffers: "512MB" });
await server.create();
const pool = new pg.Pool({ connectionString: server.url, max: 1 });
try {
  await measureUsage(Number(values.runs));
} finally {
  await pool.end();
  await server.remove();
}

async function measureUsage(runs: number): Promise<void> {
  const ledger = postgresCreditLedger({ pool });
  await ledger.history?.({ account: "nobody" });
  for (const [account, groups] of [
    ["4,000 sums", 10],
    ["40,000 sums", 100],
  ] as const) {
    await addSums(account, groups);
    for (const day of [first, last]) await addEntries(account, { day, calls: callsPerDay, groups });
  }
  await pool.query("vacuum analyze");
  await measureRanges(ledger, runs);
  const begin = performance.now();
  while ((await pool.query("select infergate.slice_usage(10000) as more")).rows[0].more);
  console.log(`Slices of ${4 * callsPerDay} entries: ${((performance.now() - begin) / 1000).toFixed(1)} s. With them:`);
  await pool.query("vacuum analyze");
  await measureRanges(ledger, runs);
  await ledger.close();
}

async function measureRanges(ledger: CreditLedger, runs: number): Promise<void> {
  const at = (day: number, hour: number) => day * dayMs + hour * hourMs;
  const ranges = {
    "whole days": {},
    "from 18:00 to 06:00": { from: at(first, 18), to: at(last, 6) },
    "from 06:00 to 18:00": { from: at(first, 6), to: at(last, 18) },
    "from noon to noon": { from: at(first, 12), to: at(last, 12) },
  };
  for (const account of ["4,000 sums", "40,000 sums"]) {
    for (const by of [["model"], ["day"], ["team"], ["day", "model"]]) {
      for (const [name, range] of Object.entries(ranges)) {
        const times: number[] = [];
        for (let run = 0; run < runs; run++) {
          const begin = performance.now();
          await ledger.usage?.({ account, by, ...range });
          times.push(performance.now() - begin);
        }
        const [least, middle] = [Math.min(...times), median(times)].map((time) => time.toFixed(1));
        console.log(`${account} by ${by.join(", ")}, ${name}: ${least} ms at the least, median ${middle} ms`);
      }
    }
  }
}

/** The sums of {@link days} days, of ten models and so many keys, with five teams. */
async function addSums(account: string, groups: number): Promise<void> {
  await pool.query(
    `insert into infergate.usage_sum (
       account, day, tag_set, digest, key_id, model, prepaid, tags,
       requests, micro, input, cached_input, cache_write, output, reasoning
     )
     select $1, day, infergate.tag_set_of(tags), infergate.sum_digest(model, key_id, false, null, null),
       key_id, model, false, tags, ${callsPerDay} / $4, 1000000, 100000, 10000, 0, 100000, 1000
     from generate_series($2::int, $3::int) as day, generate_series(1, $4::int) as n,
       lateral (select 'acme/model-' || n % 10 as model, 'key_' || n / 10 as key_id) as names,
       lateral (select jsonb_build_object('tag.team', 'team-' || n % 5) as tags) as filed`,
    [account, first, last, groups],
  );
}

/** The entries of calls all day long, by models, keys and teams as those of {@link addSums}. */
async function addEntries(
  account: string,
  { day, calls, groups }: { day: number; calls: number; groups: number },
): Promise<void> {
  await pool.query(
    `insert into infergate.entry (account, at, id, kind, amount, starts, tags, reserved, first_expires_at, ends)
     select $1, $2::bigint + n * (${dayMs}::bigint / $3), $1 || $4 || n, 'charge', 1234, '{1,2,3}',
       jsonb_build_object(
         'keyId', 'key_' || (n % $5 + 1) / 10, 'model', 'acme/model-' || (n % $5 + 1) % 10, 'source', 'provider', 'input', 1234 + n * 7919 % 20000,
         'cachedInput', n * 104729 % 1000, 'output', 567 + n % 977, 'reasoning', n % 500, 'price', '0.15/0.075/0.6/0.6/0', 'tag.team', 'team-' || (n % $5 + 1) % 5
       ), 2000, 1, '{1,2,3}'
     from generate_series(0::bigint, $3::bigint - 1) as n`,
    [account, day * dayMs, calls, dayOf(day * dayMs), groups],
  );
}
