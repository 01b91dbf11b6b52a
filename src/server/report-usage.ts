import { type Allowance, defaultSessionMs } from "../access/allowance.js";
import type { Caller } from "../access/caller.js";
import { requireKept } from "../call/admission/call-limits.js";
import type { CallServices } from "../call/call-services.js";
import { ledgerFailure } from "../call/call-warnings.js";
import { serviceUnavailable } from "../errors/gateway-error.js";
import type { Balance, WindowState } from "../ledger/credit-ledger.js";
import type { CapState, PrepaidState } from "../ledger/limits.js";
import { remaining } from "../ledger/window-states.js";
import { type UsageCapInput, type UsagePrepaidInput, type UsageWindowInput, usageReport } from "./usage-report.js";

/**
 * `GET /v1/usage`: the credits of the key's account, as JSON text. Free of charge; it opens no window.
 * @throws GatewayError 503 when the ledger fails.
 */
export async function reportUsage(
  { ledger, clock, warn }: Pick<CallServices, "ledger" | "clock" | "warn">,
  caller: Caller,
  allowance: Allowance | undefined,
  requestId: string,
): Promise<string> {
  const { credits, sessionMs } = allowance ?? nothing;
  const limits = caller.calendar.limits(credits, sessionMs, clock.now());
  const named = caller.caps && { caps: caller.caps.limits(caller.calendar, clock.now()) };
  if (named !== undefined)
    requireKept({ ledger, warn }, requestId, { ...named, rules: [], budgets: caller.budgets?.each });
  let balance: Balance;
  try {
    balance = await ledger.balance(caller.account, limits, named);
  } catch (cause) {
    warn({ code: "ledger_failed", message: ledgerFailure("read a balance", cause), cause, requestId });
    throw serviceUnavailable("Credits cannot be checked at the moment. Try again shortly.", cause);
  }
  const { windows, prepaid, caps = [] } = balance;
  const capsOf = (begins: string) => caps.filter(({ id }) => id.startsWith(begins)).map(toCap);
  const { session, week, month } = windows;
  return usageReport({
    plan: caller.plan,
    windows: { session: toInput(session), week: toInput(week), month: toInput(month) },
    prepaid: prepaid && ofPrepaid(prepaid),
    caps: capsOf("key/"),
    budgets: (caller.budgets?.each ?? []).flatMap(({ tag, counters }) => {
      const ofBudget = capsOf(`${counters}/`);
      return ofBudget.length === 0 ? [] : [{ tag, caps: ofBudget }];
    }),
  });
}

function toCap(cap: CapState): UsageCapInput {
  return { ...toInput({ ...cap, bonusMicro: 0 }), window: cap.window };
}

/** The credits of a plan that does not exist. */
const nothing: Pick<Allowance, "credits" | "sessionMs"> = {
  credits: { session: 0, week: 0, month: 0 },
  sessionMs: defaultSessionMs,
};

function ofPrepaid({ balanceMicro, overdrawnMicro, heldMicro, lots }: PrepaidState): UsagePrepaidInput {
  const remainingMicro = Math.max(0, balanceMicro);
  return { remainingMicro, overdrawnMicro, heldMicro, expiresAt: lots[0]?.expiresAt ?? null };
}

function toInput(state: WindowState): UsageWindowInput {
  const { limitMicro, bonusMicro, usedMicro, heldMicro, resetsAt } = state;
  return {
    limitMicro: limitMicro === null ? null : Math.max(0, limitMicro + bonusMicro),
    usedMicro,
    heldMicro,
    remainingMicro: remaining(state),
    resetsAt,
  };
}
