import {
  type AuditEntry,
  type AuditLimits,
  type AuditTrail,
  checkAuditLimits,
  goneAtOnce,
  knownAuditLimits,
} from "../../audit/audit-trail.js";
import { auditFilters, checkedAuditTrail } from "../../audit/checked-audit-trail.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "./database.js";

/** Options of {@link postgresAuditTrail}. */
export interface PostgresAuditTrailOptions extends PostgresOptions, AuditLimits {}

/** Keeps an entry, and drops some of what is too old or too much. */
const appendSql = /* sql */ `
with gone as (
  delete from infergate.audit_entry where sequence = any (array(
    select sequence
    from (select sequence, at from infergate.audit_entry order by sequence limit ${goneAtOnce} for update skip locked) as oldest
    where at < infergate.clock_ms() - $8::bigint
      or sequence <= (select max(sequence) from infergate.audit_entry) - $9::bigint + 1
  ))
)
insert into infergate.audit_entry (place, at, account, moved_to, key, action, author, entry)
values ($1, $2::bigint, $3, $10, $4, $5, $6, $7)
on conflict (place) do nothing`;

const columns = { account: "account", key: "key", by: "author", action: "action" };

/**
 * Keeps what the management API changes in PostgreSQL.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresAuditTrail(options: PostgresAuditTrailOptions): AuditTrail {
  requireKnownOptions("postgresAuditTrail", options, { ...knownPostgresOptions, ...knownAuditLimits });
  return auditTrail(new Database(options), options);
}

/** @throws RangeError when a limit is out of range. */
export function auditTrail(database: Database, limits: AuditLimits | undefined): AuditTrail {
  const { keepMs, maxEntries } = checkAuditLimits(limits);
  return checkedAuditTrail("postgresAuditTrail", {
    async append({ place, at, account, movedTo, key, action, by, json }) {
      const filed = [account, key, action, by].map((value) => value ?? null);
      await database.query(appendSql, [place, at, ...filed, json, keepMs, maxEntries, movedTo ?? null]);
    },
    async list({ filters, from, below, limit }) {
      const wanted = auditFilters.filter((name) => filters[name] !== undefined);
      const read = (account: string) => {
        const columnOf = (name: (typeof wanted)[number]) => (name === "account" ? account : columns[name]);
        const conditions = wanted.map((name, index) => `and ${columnOf(name)} = $${index + 4}`).join(" ");
        return `select place, entry from infergate.audit_entry where place >= $1 and place < $2 ${conditions}`;
      };
      // Those of an account are in two indexes, and are merged.
      const all = wanted.includes("account") ? `${read("account")} union all ${read("moved_to")}` : read("account");
      const sql = /* sql */ `select entry as json from (${all}) as found order by place desc limit $3::int`;
      return database.query<AuditEntry>(sql, [from, below, limit, ...wanted.map((name) => filters[name] ?? null)]);
    },
  });
}
