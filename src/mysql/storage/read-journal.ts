import { type AskedEntries, coreName, type EntryPage, type StoredEntry } from "../../ledger/storage/ledger-storage.js";
import { type AskedSums, type StoredSum, type SumName, sumNames } from "../../ledger/usage/kept-sums.js";
import { type MysqlConnection, mostReadingMs, runSql } from "../mysql-pool.js";
import { literal } from "../sql-literals.js";
import { sumCounts } from "./storage-tables.js";

/** Reads lines of the journal, and the version of their account, in one statement: all is of one moment. */
export async function readEntries(
  connection: MysqlConnection,
  prefix: string,
  { account, from, to, kinds, id, before, limit }: AskedEntries,
): Promise<EntryPage> {
  const conditions = [
    `at >= ${from} and at < ${to}`,
    ...(account === undefined ? [] : [`account = ${literal(account)}`]),
    ...(kinds === undefined ? [] : [`kind in (${["", ...kinds].map(literal).join(",")})`]),
    ...(id === undefined ? [] : [`id = ${literal(id)}`]),
    ...(before === undefined ? [] : [`at <= ${before.at} and (at < ${before.at} or sequence < ${before.sequence})`]),
  ];
  // The index that has few others.
  const index = id === undefined ? (account === undefined ? "at" : "primary") : "id";
  const rows = await runSql(
    connection,
    /* sql */ `
    (select version, null, null, null, null, null, null, null, null from ${prefix}ledger_record
      where scope = ${literal(account ?? "")} and name = ${literal(coreName)})
    union all
    (select null, account, at, sequence, kind, id, amount, prepaid, concat('[', starts, ',', coalesce(tags, 'null'), ']')
      from ${prefix}ledger_entry force index (${index})
      where ${conditions.join(" and ")} order by at desc, sequence desc limit ${limit})`,
    mostReadingMs,
  );
  const entries = rows.filter(([, of]) => of !== null).map(toEntry);
  const [version] = rows.find(([, of]) => of === null) ?? [""];
  return {
    entries: entries.sort((one, other) => other.at - one.at || other.sequence - one.sequence),
    version: String(version),
  };
}

function toEntry([, account, at, sequence, kind, id, amount, prepaid, json]: readonly unknown[]): StoredEntry {
  const [starts, tags]: [StoredEntry["starts"], StoredEntry["tags"] | null] = JSON.parse(String(json));
  return {
    ...{ account: String(account), at: Number(at), sequence: Number(sequence) },
    ...{ kind: String(kind) as StoredEntry["kind"], id: String(id), starts, tags: tags ?? undefined },
    ...{ amountMicro: Number(amount), prepaidMicro: Number(prepaid) },
  };
}

/** Adds up sums. */
export async function readSums(
  connection: MysqlConnection,
  prefix: string,
  { lengthMs, from, to, where, by, limit }: AskedSums,
): Promise<readonly StoredSum[]> {
  const names = by.filter((name): name is SumName => name !== "begins");
  const isIn = sumNames.flatMap((name) => {
    const texts = where[name];
    if (texts === undefined) return [];
    return texts.length === 0 ? ["false"] : [`of_${name} in (${texts.map(literal).join(",")})`];
  });
  // By digests, since some servers compare no more than the beginnings of long texts.
  const groups = [...names.map((name) => `sha2(of_${name}, 256)`), ...(by.includes("begins") ? ["begins"] : [])];
  const rows = await runSql(
    connection,
    /* sql */ `
    select min(begins), ${[...names.map((name) => `min(of_${name})`), ...sumCounts.map((name) => `sum(${name})`)].join(", ")}
    from ${prefix}ledger_sum
    where ${[`length_ms = ${lengthMs} and begins >= ${from} and begins < ${to}`, ...isIn].join(" and ")}
    group by ${groups.length === 0 ? "length_ms" : groups.join(", ")} limit ${limit}`,
    mostReadingMs,
  );
  return rows.map(([begins, ...columns]) => ({
    names: Object.fromEntries(names.map((name, index) => [name, String(columns[index])])),
    ...(by.includes("begins") && { begins: Number(begins) }),
    counts: columns.slice(names.length).map(Number),
  }));
}
