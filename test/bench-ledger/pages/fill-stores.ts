import type { Pool } from "pg";
import { noTokens } from "../../../src/prices/usage-counts.js";
import type { LoggedRequest, RequestLog } from "../../../src/request-log/request-log.js";
import { dayMs, month } from "../usage/month.js";

/** Records, keys and balances of the month's accounts, made by SQL, and a million lines of the request log, written as a gateway does. */
export async function fillStores(pool: Pool, log: RequestLog, lines: number): Promise<void> {
  const { accounts, first } = month;
  await pool.query(
    `insert into infergate.record (kind, id, owner, text)
     select 'account_record', 'acct_' || n, '', jsonb_build_object(
       'id', 'acct_' || n, 'plan', 'plan-' || n % 3, 'metadata', jsonb_build_object('name', 'Customer ' || n)
     ) from generate_series(1, $1::int) as n`,
    [accounts],
  );
  await pool.query(
    `insert into infergate.record (kind, id, owner, alias, text)
     select 'key', 'key_' || n, 'acct_' || n, encode(sha256(n::text::bytea), 'hex'), jsonb_build_object(
       'id', 'key_' || n, 'hash', encode(sha256(n::text::bytea), 'hex'), 'account', 'acct_' || n, 'hint', 'ig_…' || n,
       'name', 'Key ' || n, 'createdAt', $2::bigint + n, 'tags', jsonb_build_object('team', 'team-' || n % 7)
     ) from generate_series(1, $1::int) as n`,
    [accounts, first * dayMs],
  );
  const end = Date.now();
  for (let line = 0; line < lines; line += 1_000) {
    await log.write(Array.from({ length: Math.min(1_000, lines - line) }, (_, i) => lineOf(line + i, lines, end)));
  }
  await pool.query("vacuum analyze");
}

/** The lines of a day. Of a hundred, four were refused and two failed. */
function lineOf(n: number, lines: number, end: number): LoggedRequest {
  const who = 1 + ((n * 7_919) % month.accounts);
  const startedAt = end - Math.floor(((lines - n) / lines) * dayMs);
  const isRefused = n % 25 === 0;
  const isFailed = n % 50 === 1;
  const target = { provider: "openai", model: `model-${n % 10}` };
  return {
    lineId: `line_${n}`,
    requestId: `req_${n}`,
    startedAt,
    endpoint: "chat/completions",
    keyId: `key_${who}`,
    account: `acct_${who}`,
    plan: `plan-${who % 3}`,
    model: `acme/model-${n % 10}`,
    tags: { team: `team-${who % 7}` },
    stream: n % 2 === 0,
    status: isRefused ? 429 : isFailed ? 502 : 200,
    ...(isRefused && { errorCode: "insufficient_quota" }),
    ...(isFailed && { errorCode: "bad_gateway" }),
    ...(!isRefused && { target: `openai/model-${n % 10}`, endReason: isFailed ? "upstream_failed" : "completed" }),
    attempts: isRefused
      ? []
      : [
          {
            ...target,
            status: isFailed ? 500 : 200,
            outcome: isFailed ? "upstream_failed" : "completed",
            startedMs: 1,
            durationMs: 900,
          },
        ],
    tokens: isRefused || isFailed ? noTokens : { input: 800, cachedInput: 0, cacheWrite: 0, output: 250, reasoning: 0 },
    chargedMicro: isRefused || isFailed ? 0 : 1_000,
    ...(!isRefused && !isFailed && { costMicro: 600 }),
    durations: { total: 900 + (n % 400), ...(!isRefused && { firstByte: 200 + (n % 300) }) },
  };
}
