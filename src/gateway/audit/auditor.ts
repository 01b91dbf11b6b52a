import type { AuditAuthor } from "../../books/audit/audit-author.js";
import type { AuditEntry, AuditTrail } from "../../books/audit/audit-trail.js";
import type { Warn } from "../../events/warning.js";
import { isLedgerRefusal } from "../../guard/is-ledger-refusal.js";
import type { TimeLimit } from "../../guard/time-limit.js";
import { KeyIds } from "../../keys/key-ids.js";
import type { Clock } from "../../ledger/clock.js";
import { auditedDetails } from "./audited-details.js";

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
