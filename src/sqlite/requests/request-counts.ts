import { setImmediate } from "node:timers/promises";
import { CountSums } from "../../books/requests/count-sums.js";
import type { RequestCounts } from "../../books/requests/request-log.js";
import type { TotalsRequest } from "../../ledger/usage/usage-totals.js";
import { journalTagPrefix } from "../../metering/tags.js";
import { toNumber } from "../numbers.js";
import type { SqliteConnection } from "../sqlite-connection.js";

interface CountRow {
  readonly minute: unknown;
  readonly account: string | null;
  readonly plan: string | null;
  readonly model: string | null;
  readonly target: string | null;
  readonly key_id: string | null;
  readonly tags: string | null;
  readonly refusals: unknown;
  readonly failures: unknown;
}

const table = "infergate_request_count";
const columns = ["account", "plan", "model", "target", "key_id", "tags"];
/** As many are some milliseconds. */
const rowsPerTurn = 20_000;

/** Adds up what was counted, a slice at a time, so that no other work waits for long. */
export async function requestCounts(
  connection: SqliteConnection,
  request: TotalsRequest,
): Promise<readonly RequestCounts[]> {
  const { periods } = request;
  const sums = new CountSums(request);
  const [first, last] = [periods[0] as number, periods.at(-1) as number];
  const within = "(minute, sequence) > (?, ?) AND minute < ?";
  const ends = connection.prepare(`
    SELECT minute, sequence FROM ${table} WHERE ${within} ORDER BY minute, sequence LIMIT 1 OFFSET ${rowsPerTurn - 1}`);
  const slice = connection.prepare(sliceSql(request, `${within} AND (minute, sequence) <= (?, ?)`));
  let [minute, sequence] = [first, 0];
  for (;;) {
    const end = (await connection.read(() => ends.get(minute, sequence, last))) as Record<string, unknown> | undefined;
    const to = end ? [toNumber(end["minute"]), toNumber(end["sequence"])] : [last, Number.MAX_SAFE_INTEGER];
    const [toMinute = last, toSequence = 0] = to;
    const rows = await connection.read(() => slice.all(minute, sequence, last, toMinute, toSequence));
    for (const row of rows as CountRow[]) sums.add(toCounted(row));
    if (!end) return sums.list();
    [minute, sequence] = [toMinute, toSequence];
    await setImmediate();
  }
}

/** Adds up what is alike in the columns that are asked for, and by minutes if there are several periods. */
function sliceSql({ periods, by, where }: TotalsRequest, condition: string): string {
  const used = new Set([...by, ...Object.keys(where)].map(columnOf));
  const listed = columns.map((column) => (used.has(column) ? column : `NULL AS ${column}`)).join(", ");
  const group = [...(periods.length > 2 ? ["minute"] : []), ...columns.filter((column) => used.has(column))];
  return `
    SELECT min(minute) AS minute, ${listed}, sum(refusals) AS refusals, sum(failures) AS failures
    FROM ${table} WHERE ${condition} ${group.length > 0 ? `GROUP BY ${group.join(", ")}` : ""} HAVING count(*) > 0`;
}

function columnOf(name: string): string {
  if (name.startsWith(journalTagPrefix)) return "tags";
  return name === "key" ? "key_id" : name;
}

function toCounted({ minute, key_id: keyId, tags, refusals, failures, ...names }: CountRow) {
  return {
    ...names,
    keyId,
    minute: toNumber(minute),
    tags: tags === null ? null : JSON.parse(tags),
    refusals: toNumber(refusals),
    failures: toNumber(failures),
  };
}
