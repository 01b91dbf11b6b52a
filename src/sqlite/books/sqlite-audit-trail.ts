import { checkAuditLimits, goneAtOnce } from "../../books/audit/audit-limits.js";
import type { AuditEntry, AuditLimits, AuditTrail } from "../../books/audit/audit-trail.js";
import { type AuditFilters, auditFilters, checkedAuditTrail } from "../../books/audit/checked-audit-trail.js";
import { type Clock, systemClock } from "../../ledger/clock.js";
import { toNumber } from "../numbers.js";
import { SqliteConnection, type SqliteOptions } from "../sqlite-connection.js";
import type { SqliteStatement } from "../sqlite-database.js";

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
  return auditTrailOf(new SqliteConnection(options), options, options.clock);
}

const columns = { account: "account", key: "key", action: "action", by: "author" };

export function auditTrailOf(
  connection: SqliteConnection,
  limits: AuditLimits | undefined,
  clock: Clock = systemClock,
): AuditTrail {
  const { keepMs, maxEntries } = checkAuditLimits(limits);
  const insert = connection.prepare(`
    INSERT INTO infergate_audit (place, at, account, key, action, author, entry) VALUES (?, ?, ?, ?, ?, ?, ?)
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

  /** One for each choice of filters, of which there are 16. */
  function selectBy(filters: AuditFilters): SqliteStatement {
    const names = auditFilters.filter((name) => filters[name] !== undefined);
    const condition = names.map((name) => `${columns[name]} = ? AND `).join("");
    const sql = `
      SELECT entry FROM infergate_audit WHERE ${condition}place >= ? AND place < ? ORDER BY place DESC LIMIT ?`;
    const select = selects.get(sql) ?? connection.prepare(sql);
    selects.set(sql, select);
    return select;
  }

  return checkedAuditTrail("sqliteAuditTrail", {
    async append({ place, at, account, key, action, by, json }) {
      await connection.write(() => {
        insert.run(place, at, account ?? null, key ?? null, action ?? null, by ?? null, json);
        purge();
      });
    },
    async list({ filters, from, below, limit }) {
      const values = auditFilters.flatMap((name) => filters[name] ?? []);
      const rows = await connection.read(() => selectBy(filters).all(...values, from, below, limit));
      return (rows as { entry: string }[]).map(({ entry }): AuditEntry => JSON.parse(entry));
    },
  });
}
