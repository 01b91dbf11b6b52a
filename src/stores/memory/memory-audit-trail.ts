import {
  type AuditEntry,
  type AuditLimits,
  type AuditTrail,
  checkAuditLimits,
  goneAtOnce,
  knownAuditLimits,
} from "../../audit/audit-trail.js";
import { type AuditRow, checkedAuditTrail, isFiltered } from "../../audit/checked-audit-trail.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, systemClock } from "../../ledger/calendar.js";

/** Options of {@link memoryAuditTrail}. */
export interface MemoryAuditTrailOptions extends AuditLimits {
  /** Default: the process's clock. */
  clock?: Clock | undefined;
}

/**
 * Keeps what the management API changes in this process, until it ends.
 * @throws RangeError when a limit is out of range.
 */
export function memoryAuditTrail(options: MemoryAuditTrailOptions = {}): AuditTrail {
  requireKnownOptions("memoryAuditTrail", options, { ...knownAuditLimits, clock: true });
  const { clock = systemClock, ...limits } = options;
  const { keepMs, maxEntries } = checkAuditLimits(limits, 10_000);
  /** In the order of their places, the highest last. */
  const rows: AuditRow[] = [];

  return checkedAuditTrail("memoryAuditTrail", {
    async append(row) {
      let index = rows.length;
      while (index > 0 && (rows[index - 1]?.place ?? "") > row.place) index--;
      if (rows[index - 1]?.place === row.place) return;
      rows.splice(index, 0, row);
      const oldest = clock.now() - keepMs;
      const isBeyond = (gone: number) => rows.length - gone > maxEntries || (rows[gone]?.at ?? oldest) < oldest;
      let gone = 0;
      while (gone < goneAtOnce && isBeyond(gone)) gone++;
      rows.splice(0, gone);
    },
    async list({ filters, from, below, limit }) {
      const found: AuditEntry[] = [];
      for (let index = rows.length - 1; index >= 0 && found.length < limit; index--) {
        const row = rows[index];
        if (row === undefined || row.place < from) break;
        if (row.place < below && isFiltered(row, filters)) found.push(JSON.parse(row.json));
      }
      return found;
    },
  });
}
