import * as z from "zod";
import { toAllowance } from "../../access/allowance.js";
import type { CurrentCatalog } from "../../access/catalog.js";
import { warnOfUnmatched } from "../../access/warn-of-unmatched.js";
import { type AuditAuthor, authorShape } from "../../audit/checked-audit-trail.js";
import { checkInput } from "../../check/check-input.js";
import { idText } from "../../check/text-schemas.js";
import type { Warn } from "../../events/warning.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import type { Plan, PlanStore, WritablePlanStore } from "../../records/plans/plan-store.js";
import { checkNewPlan } from "../../records/plans/record-plan-store.js";
import type { Auditor } from "./audit.js";
import { fromStore } from "./from-store.js";
import { requireMethods, requirePlanKept } from "./method-checks.js";

/** Creates, changes, finds and deletes plans. */
export interface ManagedPlans {
  /**
   * Creates the plan, or replaces the whole plan of the same id. It takes effect at once in this process. Other
   * processes get it at once where the store sends notices (Redis, PostgreSQL), else within `cacheTtlMs`. The used
   * credits of accounts stay used.
   *
   * @param author - for the audit trail.
   * @throws TypeError when the plan is not valid, has rates or budgets that the ledger does not keep, or the plan store cannot write;
   * GatewayError 503 when the store fails.
   */
  put(plan: Plan, author?: AuditAuthor): Promise<void>;
  /**
   * @returns the plan as the store has it now; `undefined` when there is none.
   * @throws TypeError when it is no id; GatewayError 503 when the store fails.
   */
  get(id: string): Promise<Plan | undefined>;
  /**
   * All plans, by id.
   * @throws TypeError when the plan store cannot list them; GatewayError 503 when it fails.
   */
  list(): Promise<Plan[]>;
  /**
   * Deletes the plan, effective as soon as {@link put} is. Keys of the plan then see no model, and calls in progress go
   * on. The used credits of accounts stay used.
   * @param author - for the audit trail.
   * @returns whether there was such a plan.
   * @throws TypeError when it is no id, or the plan store cannot delete; GatewayError 503 when it fails.
   */
  delete(id: string, author?: AuditAuthor): Promise<boolean>;
}

const planId = z.strictObject({ id: idText() });
const authorInput = z.strictObject(authorShape);

/** What plans are managed with. */
interface ManagedPlanServices {
  readonly plans: PlanStore;
  readonly ledger: Pick<CreditLedger, "keepsLimits">;
  /** Of the model store: a plan may name models that only that has. */
  readonly feed: { ready(): Promise<void> } | undefined;
  readonly audit: Auditor;
  readonly warn: Warn;
}

export function managedPlans(
  { plans, ledger, feed, audit, warn }: ManagedPlanServices,
  findAllowance: { forget(id: string): void },
  catalog: CurrentCatalog,
): ManagedPlans {
  return {
    async get(id) {
      const by = "gateway.plans.get";
      checkInput(by, planId, { id });
      return (await fromStore(by, "plan", () => plans.find(id))) ?? undefined;
    },
    async list() {
      const by = "gateway.plans.list";
      const { listAll } = plans as Partial<WritablePlanStore>;
      if (listAll === undefined && plans.list !== undefined) {
        return toSortedPlans(await fromStore(by, "plan", () => plans.list?.() ?? []));
      }
      return toSortedPlans(await requireMethods(by, "plan", plans, ["listAll"]).listAll());
    },
    async delete(id, given = {}) {
      const by = "gateway.plans.delete";
      checkInput(by, planId, { id });
      const author = checkInput(by, authorInput, given);
      const store = requireMethods(by, "plan", plans, ["delete"]);
      return audit.keep({ action: "plans.delete", plan: id, ...author }, async (entry) => {
        try {
          const deleted = await store.delete(id);
          entry.after = { deleted };
          return deleted;
        } finally {
          findAllowance.forget(id);
        }
      });
    },
    async put(plan, given = {}) {
      const by = "gateway.plans.put";
      checkNewPlan(by, plan);
      const author = checkInput(by, authorInput, given);
      const allowance = toAllowance(plan.id, plan);
      requirePlanKept(by, ledger, plan);
      if (feed !== undefined) await feed.ready();
      warnOfUnmatched(allowance, catalog.current, warn);
      const store = requireMethods(by, "plan", plans, ["put"]);
      const { id, ...members } = plan;
      await audit.keep({ action: "plans.put", plan: id, ...author, given: members }, async () => {
        try {
          await store.put(plan);
        } finally {
          // Also after a failure: the store may have saved the plan.
          findAllowance.forget(id);
        }
      });
    },
  };
}

function toSortedPlans(plans: Iterable<Plan>): Plan[] {
  return [...plans].toSorted((one, other) => (one.id < other.id ? -1 : 1));
}
