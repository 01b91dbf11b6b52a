import { areRare } from "../../ledger/journal/history-filter.js";
import {
  type AskedEntries,
  endKey,
  grantKey,
  prepaidKey,
  type StoredEntry,
} from "../../ledger/storage/ledger-storage.js";
import { type AskedSums, type StoredSum, type SumName, sumNames, unknownTags } from "../../ledger/usage/kept-sums.js";
import { countColumns, shortest, sumTables } from "./storage-tables.js";

interface Query {
  readonly sql: string;
  readonly values: (string | number)[];
}

/** A row of {@link entriesQuery}. */
export type StoredEntryRow = readonly [
  account: string,
  at: number,
  sequence: number,
  kind: StoredEntry["kind"],
  id: string,
  amount: number,
  prepaid: number,
  starts: string,
  tags: string | null,
];

/** Reads one page, with the version of its account. */
export function entriesQuery({ account, from, to, kinds, id, before, limit }: AskedEntries): Query {
  const values: (string | number)[] = [];
  const given = (value: string | number) => `$${values.push(value)}`;
  const list = (texts: readonly string[]) =>
    `(select jsonb_array_elements_text(${given(JSON.stringify(texts))}::text::jsonb))`;
  const where = [`at >= ${given(from)}::bigint`, `at < ${given(to)}::bigint`];
  if (account !== undefined) where.push(`account = ${given(account)}`);
  if (before !== undefined)
    where.push(`(at, sequence) < (${given(before.at)}::bigint, ${given(before.sequence)}::bigint)`);
  if (kinds !== undefined) where.push(`kind in ${list(kinds)}`);
  if (kinds !== undefined && areRare(kinds)) where.push("kind <> 'charge' and kind <> 'release'");
  // By the keys that an entry of this id can have. The few others of an account have an index of their own.
  const source =
    id === undefined || account === undefined
      ? "infergate.kept_entry"
      : `(
        select * from infergate.kept_entry where key in ${list([endKey(id), grantKey(id), prepaidKey(id)])}
        union all
        select * from infergate.kept_entry where account = ${given(account)} and key is null and id = ${given(id)}
      ) as of_id`;
  if (id !== undefined) where.push(`id = ${given(id)}`);
  const version =
    account === undefined
      ? "''"
      : `coalesce((select version from infergate.kept_account where id = ${given(account)}), '')`;
  const sql = /* sql */ `
    select jsonb_build_object('version', ${version}, 'entries', coalesce((
      select jsonb_agg(
        jsonb_build_array(account, at, sequence, kind, id, amount, prepaid, starts, tags) order by at desc, sequence desc
      )
      from (
        select * from ${source} where ${where.join(" and ")} order by at desc, sequence desc limit ${given(limit)}::int
      ) as page
    ), '[]'))::text as json`;
  return { sql, values };
}

export function toStoredEntry(row: StoredEntryRow): StoredEntry {
  const [account, at, sequence, kind, id, amountMicro, prepaidMicro, starts, tags] = row;
  return {
    ...{ account, at, sequence, kind, id, amountMicro, prepaidMicro },
    starts: JSON.parse(starts),
    tags: tags === null ? undefined : JSON.parse(tags),
  };
}

/** Reads sums, added up by what is asked for. Each row has the columns of `by`, and then the counts. */
export function sumsQuery({ lengthMs, from, to, where, by, limit }: AskedSums): Query {
  const table = sumTables.find((one) => one.lengthMs === lengthMs)?.table;
  if (table === undefined) throw new RangeError(`There are no sums of ${lengthMs} ms.`);
  const values: (string | number)[] = [];
  const given = (value: string | number) => `$${values.push(value)}`;
  const chosen = sumNames.flatMap((name) => {
    const texts = where[name];
    if (texts === undefined) return [];
    // As its index says.
    if (name === "tags" && texts.length === 1 && texts[0] === unknownTags) return [`tags = '${unknownTags}'`];
    return [`${name} in (select jsonb_array_elements_text(${given(JSON.stringify(texts))}::text::jsonb))`];
  });
  // Of few names, the sums are read one by one.
  const areFew = where.account !== undefined || where.key !== undefined || where.tags !== undefined;
  const range = [
    `begins >= ${given(from)}::bigint and begins < ${given(to)}::bigint`,
    ...(areFew
      ? [`digest = any(array(select digest from infergate.kept_sum_name where ${chosen.join(" and ")}))`]
      : []),
  ].join(" and ");
  const rolled = (moment: string) => `(select (${moment}) / ${lengthMs} * ${lengthMs} from infergate.kept_rolled)`;
  const since = rolled(`since + ${lengthMs - 1}`);
  const until = rolled("until");
  const counted = countColumns.join(", ");
  const shorter = `digest, begins / ${lengthMs} * ${lengthMs} as begins, ${counted}`;
  const known = `select digest, begins, ${counted} from infergate.${table} where ${range} and begins < ${until}`;
  const newest = `select ${shorter} from infergate.${shortest.table} where ${range} and begins >= ${until}`;
  const ofAll = `select ${shorter} from infergate.kept_sum_all where ${range} and begins >= ${since} and begins < ${until}`;
  // What says nothing of accounts and keys is in the sums of all, but for the newest.
  const isOfAll = ![...by, ...Object.keys(where)].some((name) => name === "account" || name === "key");
  const read = (isOfAll ? [ofAll, `${known} and begins < ${since}`, newest] : [known, newest]).join(" union all ");
  const added = countColumns.map((name) => `sum(${name}) as ${name}`).join(", ");
  // Of all names, the sums of each are added up first: by few columns. Not where some names are chosen, or each sum is apart.
  const digests = by.includes("begins") ? "digest, begins" : "digest";
  const isApart = by.includes("begins") && lengthMs === shortest.lengthMs;
  const isChosen = chosen.length > 0 && !areFew;
  const first =
    isChosen || isApart
      ? `(${read}) as read`
      : `(select ${digests}, ${added} from (${read}) as read group by ${digests}) as read`;
  const only = isChosen ? `where ${chosen.join(" and ")}` : "";
  const source = `${first} join infergate.kept_sum_name using (digest) ${only}`;
  const columns = by.length === 0 ? "" : `${by.join(", ")}, `;
  const counts = countColumns.map((name) => `coalesce(${name}, 0)`).join(", ");
  const grouped = by.length === 0 ? "having count(*) > 0" : `group by ${by.join(", ")}`;
  const sql = /* sql */ `
    select jsonb_build_array(${columns}${counts})::text as json
    from (select ${columns}${added} from ${source} ${grouped} limit ${given(limit)}::int) as sums`;
  return { sql, values };
}

export function toStoredSum(row: readonly (string | number)[], { by }: AskedSums): StoredSum {
  const names: Partial<Record<SumName, string>> = {};
  let begins: number | undefined;
  for (const [index, column] of by.entries()) {
    if (column === "begins") begins = row[index] as number;
    else names[column] = row[index] as string;
  }
  return { names, begins, counts: row.slice(by.length) as number[] };
}
