import {
  type Add,
  type AskedEntries,
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  coreName,
  type EntryPage,
  isHold,
  type KeptEntry,
  type LedgerStorage,
  type Loaded,
  namedBy,
  type PurgedBefore,
  type StoredRecord,
} from "../../ledger/storage/ledger-storage.js";
import { decodeReceipt, encodeReceipt } from "../../ledger/storage/receipt-text.js";
import { type AskedSums, type StoredSum, sumNames } from "../../ledger/usage/kept-sums.js";
import type { Notifications } from "../listen/notifications.js";
import type { PostgresPool } from "../postgres-pool.js";
import { isDuplicateKey, retryTransient } from "../retry-transient.js";
import { inSchema } from "../schema/in-schema.js";
import { entriesQuery, type StoredEntryRow, sumsQuery, toStoredEntry, toStoredSum } from "./journal-queries.js";
import { sumTables } from "./storage-tables.js";

const loadSql = "select kept::text as json from infergate.load_kept($1::text::jsonb) as kept";
const commitSql = "select answer::text as json from infergate.commit_kept($1::text::jsonb) as answer";

interface LoadedRow {
  readonly account: string;
  readonly version: string;
  readonly core: readonly [stamp: string, text: string, counters: number[]] | null;
  readonly records: readonly (readonly [name: string, stamp: string, text: string, counters: number[]])[] | null;
  readonly holds: readonly (readonly [name: string, stamp: string, text: string])[] | null;
  readonly entries: readonly (readonly [string, string, number, string, number | null, string | null])[] | null;
  readonly nextDue: number | null;
  readonly now: number;
  readonly keptFrom: number | null;
  readonly forgottenAt: number | null;
}

/** `null`: it was refused. */
type CommitAnswer =
  | readonly [
      previous: string,
      counters: number[] | null,
      records: readonly (readonly [name: string, counters: number[]])[] | null,
      nextDue: number | null,
    ]
  | null;

/** Keeps the records of a ledger in PostgreSQL: one statement reads or commits for many accounts. */
export class PostgresStorage implements LedgerStorage {
  readonly #pool: PostgresPool;
  readonly #schema: string;

  readonly subscribe?: NonNullable<LedgerStorage["subscribe"]>;

  /** @param notifications - absent: no process listens. */
  constructor(pool: PostgresPool, schema: string, notifications?: Notifications) {
    this.#pool = pool;
    this.#schema = schema;
    if (notifications?.isEnabled) this.subscribe = (onChange) => notifications.subscribe(this.#channel, onChange);
  }

  async load(asked: readonly AskedRecords[]): Promise<readonly Loaded[]> {
    const rows = await this.#query<LoadedRow>(loadSql, [JSON.stringify(asked.map(toAskedRow))]);
    return rows.map(toLoaded);
  }

  async commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    // In one order everywhere, or processes could wait for each other.
    const inOrder = commits.toSorted((one, other) => (one.account < other.account ? -1 : 1));
    const answers = await this.#commit(inOrder);
    const refused = inOrder.filter((_, index) => answers[index] === null);
    const loaded = refused.length === 0 ? [] : await this.load(refused.map(namedBy));
    const loadedOf = new Map(refused.map((commit, index) => [commit, loaded[index] as Loaded]));
    const outcomes = new Map(
      inOrder.map((commit, index) => [commit, toOutcome(answers[index] ?? null, loadedOf.get(commit))]),
    );
    return commits.map((commit) => outcomes.get(commit) as CommitOutcome);
  }

  async due(limit: number): Promise<readonly string[]> {
    return this.#query<string>(
      /* sql */ `
      select to_jsonb(account)::text as json from (
        select distinct account from infergate.kept_hold where due <= infergate.clock_ms() limit $1
      ) as due`,
      [limit],
    );
  }

  async entries(asked: AskedEntries): Promise<EntryPage> {
    const { sql, values } = entriesQuery(asked);
    const [page] = await this.#query<{ version: string; entries: readonly StoredEntryRow[] }>(sql, values);
    return { version: page?.version ?? "", entries: page?.entries.map(toStoredEntry) ?? [] };
  }

  async sums(asked: AskedSums): Promise<readonly StoredSum[]> {
    const { sql, values } = sumsQuery(asked);
    const rows = await this.#query<readonly (string | number)[]>(sql, values);
    return rows.map((row) => toStoredSum(row, asked));
  }

  async accounts(after: string, limit: number): Promise<readonly string[]> {
    return this.#query<string>(
      /* sql */ `select to_jsonb(id)::text as json from infergate.kept_account where id > $1 order by id limit $2`,
      [after, limit],
    );
  }

  async forget(account: string, limit: number): Promise<boolean> {
    const [isMore] = await this.#query<boolean>(
      /* sql */ `select to_jsonb(infergate.forget_kept($1, $2))::text as json`,
      [account, limit],
    );
    return isMore === true;
  }

  async purge({ entries, topUps, sums, forgotten }: PurgedBefore, limit: number): Promise<boolean> {
    const sumsBefore = sumTables.map((table) => sums.find(({ lengthMs }) => lengthMs === table.lengthMs)?.before ?? 0);
    const [isMore] = await this.#query<boolean[]>(
      /* sql */ `
      select jsonb_build_array(infergate.roll_up_kept(), infergate.purge_kept($1, $2, $3::text::bigint[], $4, $5))::text as json`,
      [entries, topUps, numberArray(sumsBefore), forgotten, limit],
    );
    return isMore?.includes(true) === true;
  }

  async announce(accounts: readonly string[]): Promise<void> {
    await this.#pool.query("select pg_notify($1, account) from jsonb_array_elements_text($2::text::jsonb) as account", [
      this.#channel,
      JSON.stringify(accounts),
    ]);
  }

  /** For notices of accounts that may have credits again. */
  get #channel(): string {
    return `${this.#schema}_account`;
  }

  /** @returns an answer for each commit, in their order. */
  async #commit(commits: readonly Commit[]): Promise<readonly CommitAnswer[]> {
    try {
      return await this.#query<CommitAnswer>(commitSql, [JSON.stringify(commits.map(toRow))]);
    } catch (error) {
      // What must not be there has come meanwhile.
      if (!isDuplicateKey(error)) throw error;
      if (commits.length === 1) return [null];
      const middle = commits.length / 2;
      const halves = await Promise.all(
        [commits.slice(0, middle), commits.slice(middle)].map((half) => this.#commit(half)),
      );
      return halves.flat();
    }
  }

  async #query<Row>(sql: string, values: (string | number)[]): Promise<Row[]> {
    const { rows } = await retryTransient(() => this.#pool.query(inSchema(sql, this.#schema), values));
    return (rows as { json: string }[]).map(({ json }) => JSON.parse(json));
  }
}

function toAskedRow({ account, names, entries, holds = false, all = false }: AskedRecords) {
  const records = names.filter((name) => !isHold(name) && name !== coreName);
  return [account, all ? null : textArray(records), textArray(names.filter(isHold)), textArray(entries), holds];
}

/** The text of an array of texts. */
function textArray(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

/** The text of an array of numbers. What is not finite is null. */
function numberArray(numbers: readonly number[]): string {
  return `{${numbers.map((number) => (Number.isFinite(number) ? number : "null")).join(",")}}`;
}

function toLoaded(row: LoadedRow): Loaded {
  const records = new Map<string, StoredRecord>();
  if (row.core !== null) records.set(coreName, { stamp: row.core[0], text: row.core[1], counters: row.core[2] });
  for (const [name, stamp, text, counters] of row.records ?? []) records.set(name, { stamp, text, counters });
  for (const [name, stamp, text] of row.holds ?? []) records.set(name, { stamp, text, counters: [] });
  const entries = new Map<string, KeptEntry>();
  for (const [key, account, amountMicro, starts, expiresAt, receipt] of row.entries ?? []) {
    entries.set(key, {
      account,
      amountMicro,
      starts: JSON.parse(starts),
      expiresAt: expiresAt ?? undefined,
      receipt: receipt === null ? undefined : decodeReceipt(account, receipt),
    });
  }
  return {
    ...{ account: row.account, version: row.version, now: row.now, records, entries },
    nextDue: row.nextDue ?? Number.POSITIVE_INFINITY,
    keptFrom: row.keptFrom ?? Number.NEGATIVE_INFINITY,
    forgottenAt: row.forgottenAt ?? Number.NEGATIVE_INFINITY,
  };
}

function toOutcome(answer: CommitAnswer, loaded: Loaded | undefined): CommitOutcome {
  if (answer === null) return { isDone: false, loaded: loaded as Loaded };
  const [previous, core, records, nextDue] = answer;
  const counters = new Map<string, readonly number[]>(records ?? []);
  if (core !== null) counters.set(coreName, core);
  return { isDone: true, previous, counters, nextDue: nextDue ?? Number.POSITIVE_INFINITY };
}

/** In the order that `commit_kept` has. */
function toRow(commit: Commit) {
  const { account, version, expected = null, requires, adds, puts, now, absentEntries } = commit;
  const core = puts.get(coreName);
  return [
    ...[account, version, expected, requires.get(coreName) ?? null, now],
    ...[core?.text ?? null, core === undefined ? null : numberArray(core.counters), toAddition(adds.get(coreName))],
    recordRows(commit),
    ...holdLists(commit),
    ...[entryRows(commit), textsOrNull(absentEntries), sumRows(commit)],
  ];
}

function orNull<Item>(list: readonly Item[]): readonly Item[] | null {
  return list.length === 0 ? null : list;
}

function textsOrNull(texts: readonly string[]): string | null {
  return texts.length === 0 ? null : textArray(texts);
}

function recordRows({ requires, adds, puts, removes }: Commit) {
  const names = [...requires.keys()].filter((name) => !isHold(name) && name !== coreName);
  return orNull(
    names.map((name) => {
      const put = puts.get(name);
      return [
        ...[name, requires.get(name) ?? null, put?.text ?? null, put === undefined ? null : numberArray(put.counters)],
        ...[toAddition(adds.get(name)), removes.includes(name)],
      ];
    }),
  );
}

function holdLists({ requires, puts, removes }: Commit) {
  const [names, stamps, absent, fresh, changed]: [string[], string[], string[], unknown[], unknown[]] = [
    [],
    [],
    [],
    [],
    [],
  ];
  for (const [name, stamp] of requires) {
    if (!isHold(name)) continue;
    const put = puts.get(name);
    const row = put && [name, put.text, put.due ?? null];
    if (stamp !== undefined) {
      names.push(name);
      stamps.push(stamp);
      if (row !== undefined) changed.push(row);
    } else if (row !== undefined) fresh.push(row);
    else absent.push(name);
  }
  return [
    ...[textsOrNull(names), textsOrNull(stamps), textsOrNull(absent), orNull(fresh), orNull(changed)],
    textsOrNull(removes.filter(isHold)),
  ];
}

function entryRows({ entries }: Commit) {
  return orNull(
    entries.map(({ key = null, kind, id, amountMicro, prepaidMicro, starts, tags, expiresAt = null, receipt }) => [
      ...[key, kind, id, amountMicro, prepaidMicro, JSON.stringify(starts)],
      ...[tags === undefined ? null : JSON.stringify(tags), expiresAt],
      receipt === undefined ? null : encodeReceipt(receipt),
    ]),
  );
}

function sumRows({ sums }: Commit) {
  return orNull(
    sums.map(({ digest, names, counts }) => [
      digest,
      ...sumNames.flatMap((name) => (name === "account" ? [] : [names[name]])),
      numberArray(counts),
    ]),
  );
}

function toAddition(adds: readonly Add[] | undefined) {
  if (adds === undefined) return null;
  const floors = adds.map(({ floor }) => floor);
  return [
    numberArray(adds.map(({ by }) => by)),
    numberArray(adds.map(({ least }) => least)),
    numberArray(adds.map(({ most }) => most)),
    floors.some(Number.isFinite) ? numberArray(floors) : null,
  ];
}
