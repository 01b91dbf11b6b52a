import { checkAuditLimits } from "../../books/audit/audit-limits.js";
import { type AuditEntry, type AuditLimits, type AuditTrail, knownAuditLimits } from "../../books/audit/audit-trail.js";
import { auditFilters, checkedAuditTrail, isFiltered } from "../../books/audit/checked-audit-trail.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "../redis-options.js";
import { auditScripts } from "./audit-scripts.js";

/** Options of {@link redisAuditTrail}. */
export interface RedisAuditTrailOptions extends RedisOptions, AuditLimits {}

/** How many entries one script reads, so that it keeps no other client waiting. */
const mostPerScript = 200;

/**
 * Keeps what the management API changes in Redis.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisAuditTrail(options: RedisAuditTrailOptions): AuditTrail {
  requireKnownOptions("redisAuditTrail", options, { ...knownRedisOptions, ...knownAuditLimits });
  return auditTrailOn(connectionOf(options), options);
}

/** The same on a connection that is shared with other stores. */
export function auditTrailOn(
  { run, prefix }: Pick<RedisConnection, "run" | "prefix">,
  limits: AuditLimits | undefined,
): AuditTrail {
  const { keepMs, maxEntries } = checkAuditLimits(limits);
  const nameOf = (part: string) => `${prefix}:{audit}:${part}`;
  const entries = nameOf("entries");
  const written = [nameOf("order"), entries, ...auditFilters.map(nameOf)];

  return checkedAuditTrail("redisAuditTrail", {
    async append({ place, json, movedTo = "", ...values }) {
      const filed = auditFilters.map((name) => values[name] ?? "");
      await run(auditScripts.append, written, [place, json, keepMs, maxEntries, ...filed, movedTo]);
    },

    async list({ filters, from, below, limit }) {
      const wanted = auditFilters.filter((name) => filters[name] !== undefined);
      // The first one has the fewest entries.
      const [index, ...others] = wanted;
      const keys = [nameOf(index ?? "order"), entries];
      const begin = index === undefined ? "" : `${filters[index]}\0`;
      const found: AuditEntry[] = [];
      for (let next = below; next !== "" && found.length < limit; ) {
        const size = others.length > 0 ? mostPerScript : Math.min(mostPerScript, limit - found.length);
        const reply = (await run(auditScripts.list, keys, [begin, from, next, size])) as readonly unknown[];
        const [last, ...texts] = reply.map(String);
        const read = texts.map((text): AuditEntry => JSON.parse(text));
        found.push(...read.filter((entry) => isFiltered(entry, filters)));
        next = last ?? "";
      }
      return found.slice(0, limit);
    },
  });
}
