import { setImmediate } from "node:timers/promises";
import {
  type AuditEntry,
  type AuditLimits,
  type AuditTrail,
  checkAuditLimits,
  goneAtOnce,
  knownAuditLimits,
} from "../../audit/audit-trail.js";
import {
  type AuditFilters,
  type AuditRange,
  auditFilters,
  checkedAuditTrail,
  isFiltered,
} from "../../audit/checked-audit-trail.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, systemClock } from "../../ledger/calendar.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";
import { type SqliteStatement, toNumber } from "./sqlite-database.js";

/** Options of {@link sqliteAuditTrail}. */
export interface SqliteAuditTrailOptions extends SqliteOptions, AuditLimits {
  /** Default: the process's clock. */
  clock?: Clock | undefined;
}

/**
 * Keeps what the management API changes in a SQLite database.
 *
 * @throws RangeError when a limit or `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteAuditTrail(options: SqliteAuditTrailOptions): AuditTrail {
  requireKnownOptions("sqliteAuditTrail", options, { ...knownSqliteOptions, ...knownAuditLimits, clock: true });
  return auditTrailOf(new SqliteConnection(options), options, options.clock);
}

const columns = { account: "account", key: "key", by: "author", action: "action" };
/** So many entries are read in one step: some milliseconds of work. */
const mostPerStep = 500;

interface Row {
  readonly place: string;
  readonly account: string | null;
  readonly moved_to: string | null;
  readonly key: string | null;
  readonly author: string | null;
  readonly action: string;
  readonly entry: string;
}

export function auditTrailOf(
  connection: SqliteConnection,
  limits: AuditLimits | undefined,
  clock: Clock = systemClock,
): AuditTrail {
  const { keepMs, maxEntries } = checkAuditLimits(limits);
  const insert = connection.prepare(`
    INSERT INTO infergate_audit (place, at, account, moved_to, key, action, author, entry) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (place) DO NOTHING`);
  const oldest = connection.prepare(`SELECT sequence, at FROM infergate_audit ORDER BY sequence LIMIT ${goneAtOnce}`);
  const newest = connection.prepare("SELECT max(sequence) AS sequence FROM infergate_audit");
  const remove = connection.prepare("DELETE FROM infergate_audit WHERE sequence <= ?");
  const selects = new Map<string, SqliteStatement>();

  function purge(): void {
    const lastGone = toNumber((newest.get() as { sequence: unknown }).sequence) - maxEntries;
    const earliest = clock.now() - keepMs;
    const rows = oldest.all() as { sequence: unknown; at: unknown }[];
    const kept = rows.findIndex((row) => toNumber(row.sequence) > lastGone && toNumber(row.at) >= earliest);
    const gone = kept === -1 ? rows.at(-1) : rows[kept - 1];
    if (gone !== undefined) remove.run(toNumber(gone.sequence));
  }

  /** By the filter with the fewest entries. Those of an account are in two indexes, and are merged. */
  function selectBy(filter: keyof AuditFilters | undefined): SqliteStatement {
    const name = filter ?? "";
    const known = selects.get(name);
    if (known !== undefined) return known;
    const read = (condition: string) => `
      SELECT place, account, moved_to, key, author, action, entry FROM infergate_audit
      WHERE ${condition}place >= ? AND place < ?`;
    const own = read(filter === undefined ? "" : `${columns[filter]} = ? AND `);
    const all = filter === "account" ? `${own} UNION ALL ${read("moved_to = ? AND ")}` : own;
    const select = connection.prepare(`${all} ORDER BY place DESC LIMIT ?`);
    selects.set(name, select);
    return select;
  }

  /** The entries of a filter from a place down, some at a time, so that no other work waits for long. */
  async function* read({ filters, from, below, limit }: AuditRange): AsyncGenerator<readonly Row[]> {
    const [filter, ...others] = auditFilters.filter((name) => filters[name] !== undefined);
    const size = others.length > 0 ? mostPerStep : Math.min(mostPerStep, limit);
    for (let next: string | undefined = below; next !== undefined; ) {
      const range = [...(filter === undefined ? [] : [filters[filter] ?? null]), from, next];
      const values = filter === "account" ? [...range, ...range, size] : [...range, size];
      const rows = (await connection.read(() => selectBy(filter).all(...values))) as Row[];
      yield rows;
      next = rows.length < size ? undefined : rows.at(-1)?.place;
      if (next !== undefined) await setImmediate();
    }
  }

  return checkedAuditTrail("sqliteAuditTrail", {
    async append({ place, at, account, movedTo, key, action, by, json }) {
      const filed = [account, movedTo, key, action, by].map((value) => value ?? null);
      await connection.write(() => {
        insert.run(place, at, ...filed, json);
        purge();
      });
    },
    async list(range) {
      const found: AuditEntry[] = [];
      for await (const rows of read(range)) {
        for (const { entry, author, moved_to: movedTo, ...row } of rows) {
          const isFound = isFiltered({ ...row, by: author, movedTo }, range.filters);
          if (isFound && found.length < range.limit) found.push(JSON.parse(entry));
        }
        if (found.length === range.limit) break;
      }
      return found;
    },
  });
}
