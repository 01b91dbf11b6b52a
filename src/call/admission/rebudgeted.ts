import { requireAllowed } from "../../access/authorize.js";
import { rulesOf } from "../../access/entitlement.js";
import type { CallServices } from "../call-services.js";
import type { CheckedCall } from "../checked-call.js";

/**
 * A call that the host's hook has tagged, under the budgets of all its tags.
 * @throws GatewayError 403 for a budget that is suspended or excludes the model, 503 when a store fails.
 */
export async function rebudgeted({ applyBudgets }: CallServices, call: CheckedCall): Promise<CheckedCall> {
  const { caller: earlier, allowance, model, tags = {} } = call;
  const caller = await applyBudgets(earlier.unbudgeted ?? earlier, tags);
  if (caller === earlier) return call;
  requireAllowed(caller, allowance, model);
  return { ...call, caller, rules: rulesOf(caller, allowance, model.id) };
}
