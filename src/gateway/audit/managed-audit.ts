import * as z from "zod";
import type { AuditPage, AuditQuery, AuditTrail } from "../../books/audit/audit-trail.js";
import { auditQueryShape } from "../../books/audit/checked-audit-trail.js";
import { checkInput } from "../../check/check-input.js";
import { UnsupportedError } from "../../check/unsupported-error.js";
import { wholeInstant } from "../../keys/check-key.js";
import type { Instant } from "../../keys/key-store.js";
import { fromStore } from "../admin/from-store.js";
import type { Auditor } from "./auditor.js";

/** Which entries {@link ManagedAudit.list} gives. Without members: all. */
export interface AuditListRequest extends Omit<AuditQuery, "from" | "to"> {
  /** Inclusive. */
  from?: Instant | undefined;
  /** Exclusive. */
  to?: Instant | undefined;
}

/** What the host's code has changed by the management API, see `docs/audit.md`. */
export interface ManagedAudit {
  /**
   * The changes, the newest first, in pages.
   * @throws TypeError when the query is not valid, and when the gateway has no audit trail; GatewayError 503 when it fails.
   */
  list(query?: AuditListRequest): Promise<AuditPage>;
  /** How many entries of this process the audit trail did not keep in time. A warning `audit_failed` had each of them. */
  readonly lost: number;
}

const moment = wholeInstant.transform((value) => value ?? undefined);
const listInput = z.strictObject({ ...auditQueryShape, from: moment, to: moment });

export function managedAudit(trail: AuditTrail | undefined, auditor: Auditor): ManagedAudit {
  return {
    async list(given = {}) {
      const by = "gateway.audit.list";
      const query = checkInput(by, listInput, given);
      if (trail !== undefined) return fromStore(by, "audit", () => trail.list(query));
      throw new UnsupportedError(
        `${by}: the gateway keeps no audit trail. Give createGateway \`audit\`: the one of sqliteStores, redisStores or ` +
          "postgresStores, as in `audit: stores.audit`, or memoryAuditTrail().",
      );
    },
    get lost() {
      return auditor.lost;
    },
  };
}
