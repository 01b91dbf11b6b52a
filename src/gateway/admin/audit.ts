import * as z from "zod";
import type { AuditDetails, AuditEntry, AuditPage, AuditQuery, AuditTrail } from "../../audit/audit-trail.js";
import { type AuditAuthor, auditQueryShape } from "../../audit/checked-audit-trail.js";
import { checkInput, UnsupportedError } from "../../check/check-input.js";
import type { Warn } from "../../events/warning.js";
import type { Clock } from "../../ledger/calendar.js";
import type { TimeLimit } from "../../ledger/guard/time-limit.js";
import { isLedgerRefusal } from "../../ledger/ledger-refusal.js";
import { wholeInstant } from "../../records/keys/check-key.js";
import type { Instant } from "../../records/keys/key-store.js";
import { KeyIds } from "../../records/keys/managed-key.js";
import { fromStore } from "./from-store.js";

/** Which entries {@link ManagedAudit.list} gives. Without members: all. */
interface AuditListRequest extends Omit<AuditQuery, "from" | "to"> {
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

type Subject = Partial<Pick<AuditEntry, "account" | "movedTo" | "key" | "plan" | "model" | "budget">>;

/** What a method changes, and for whom. */
export interface AuditedChange extends Subject, AuditAuthor {
  readonly action: AuditEntry["action"];
  /** Without what stands in other members. */
  readonly given?: object | undefined;
  readonly before?: object | undefined;
}

/** What the method adds to its entry as it learns it. */
export interface AuditDraft extends Subject {
  after?: object | undefined;
}

/** What entries are kept with. */
interface AuditServices {
  /** `undefined`: none are kept. */
  readonly trail: AuditTrail | undefined;
  readonly timeLimit: TimeLimit;
  readonly clock: Clock;
  readonly warn: Warn;
}

/** Keeps an entry of each change of the management API: the change first, then its entry. */
export class Auditor {
  readonly #services: AuditServices;
  readonly #ids = new KeyIds("audit_");
  #lost = 0;

  constructor(services: AuditServices) {
    this.#services = services;
  }

  /** How many entries the trail did not keep in time. */
  get lost(): number {
    return this.#lost;
  }

  /**
   * Makes a change, and keeps its entry: also where it failed so that it may have been made, but not where it was refused.
   * What the trail does is no matter of the caller's.
   */
  async keep<Result>(change: AuditedChange, make: (draft: AuditDraft) => Promise<Result>): Promise<Result> {
    const draft: AuditDraft = {};
    let result: Result;
    try {
      result = await make(draft);
    } catch (error) {
      if (!isRefusal(error)) await this.#append(change, draft, "unknown");
      throw error;
    }
    await this.#append(change, draft, "done");
    return result;
  }

  async #append(change: AuditedChange, draft: AuditDraft, outcome: AuditEntry["outcome"]): Promise<void> {
    const { trail, timeLimit, clock, warn } = this.#services;
    if (trail === undefined) return;
    const at = Math.max(Math.floor(clock.now()), 0);
    let entry: AuditEntry | undefined;
    try {
      entry = toEntry({ ...change, ...draft }, { id: this.#ids.next(at), at, outcome });
      await timeLimit.race(trail.append(entry));
    } catch (cause) {
      this.#lost++;
      const lost = JSON.stringify(entry ?? { action: change.action, at });
      const message = `The audit trail failed: it may lack this entry of a change that has been made: ${lost}`;
      warn({ code: "audit_failed", message, cause });
    }
  }
}

function toEntry(
  { given, before, after, ...rest }: AuditedChange & AuditDraft,
  made: Pick<AuditEntry, "id" | "at" | "outcome">,
): AuditEntry {
  const cut: string[] = [];
  const details = {
    given: auditedDetails("given", given, cut),
    before: auditedDetails("before", before, cut),
    after: auditedDetails("after", after, cut),
  };
  const members = Object.entries({ ...made, ...rest, ...details }).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(members) as unknown as AuditEntry), ...(cut.length > 0 && { cut }) };
}

/** Whether nothing has changed: by its status, which is the caller's fault, or that of a store which cannot do it. */
function isRefusal(error: unknown): boolean {
  const { statusCode } = (error ?? {}) as { statusCode?: unknown };
  const isMeant = typeof statusCode === "number" && ((statusCode >= 400 && statusCode < 500) || statusCode === 501);
  return isMeant || isLedgerRefusal(error);
}

/** So many characters of JSON are kept of what was given, of what was before, and of what is after. */
const mostCharacters = 16_384;
/** So many names of what was cut are kept. */
const mostCut = 64;
/** Members that no entry has, wherever they might come from. */
const secret = new Set(["secret", "hash"]);

/**
 * The members as an entry has them: without secrets, with the names of `metadata` alone, and without what is too large.
 * @param cut - gets the names of what is too large, behind `part`.
 */
function auditedDetails(part: string, members: object | undefined, cut: string[]): AuditDetails | undefined {
  if (members === undefined) return undefined;
  let left = mostCharacters;
  const kept = Object.entries(members).flatMap(([name, value]) => {
    const json = secret.has(name) ? undefined : JSON.stringify(name === "metadata" ? namesOf(value) : value);
    if (json === undefined) return [];
    if (json.length + name.length > left) {
      if (cut.length < mostCut) cut.push(`${part}.${name.slice(0, 64)}`);
      return [];
    }
    left -= json.length + name.length;
    return [[name, JSON.parse(json)] as const];
  });
  return Object.fromEntries(kept);
}

function namesOf(metadata: unknown): unknown {
  return typeof metadata === "object" && metadata !== null ? Object.keys(metadata) : metadata;
}
