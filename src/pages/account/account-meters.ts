import type {
  AccountBalance,
  AccountWindow,
  BudgetBalance,
  CapBalance,
  KeyBalance,
} from "../../gateway/admin/balance.js";
import type { PrepaidState } from "../../ledger/limits.js";
import { toCredits, toSeconds } from "../server/page-route.js";
import type { AccountMeter } from "./account-page-api.js";

/** The meters of an account: its windows, and what was bought. */
export function accountMeters({ windows, prepaid }: AccountBalance): readonly AccountMeter[] {
  return [
    ...(["session", "week", "month"] as const).map((name) => ofWindow(name, windows[name])),
    ...(prepaid === undefined ? [] : [ofPrepaid(prepaid)]),
  ];
}

/** The meters of a budget: its caps. */
export function budgetMeters({ tag, value, caps }: BudgetBalance): readonly AccountMeter[] {
  return caps.map((cap) => ofCap({ id: `budget-${tag}-${value}-${cap.window}`, kind: "budget", tag, value }, cap));
}

/** The meters of a key: its caps. */
export function keyMeters({ key, caps }: KeyBalance): readonly AccountMeter[] {
  return caps.map((cap) => ofCap({ id: `key-${key}-${cap.window}`, kind: "key", tag: null, value: null }, cap));
}

/** Which meter ends first, and whether it has. */
export interface Binding {
  readonly binding: string | null;
  readonly blocked: boolean;
}

/** Prepaid credits pay where the plan's windows do not, so that windows end nothing as long as some are left. */
export function bindingOf(meters: readonly AccountMeter[]): Binding {
  const limited = meters.filter(({ kind, remaining }) => kind !== "prepaid" && remaining !== null);
  const used = limited.filter(({ remaining }) => remaining === 0);
  const prepaid = meters.find(({ kind }) => kind === "prepaid");
  const hasPrepaid = (prepaid?.remaining ?? 0) > 0;
  const closed = used.filter(({ kind }) => kind === "budget" || !hasPrepaid);
  if (closed.length > 0) return { binding: latest(closed).id, blocked: true };
  // A used window sends calls to the prepaid credits.
  if (used.length > 0 && prepaid !== undefined) return { binding: prepaid.id, blocked: false };
  const [least] = limited.toSorted((one, other) => (one.remaining ?? 0) - (other.remaining ?? 0));
  return { binding: least?.id ?? null, blocked: false };
}

/** Calls go on when the last of them resets. */
function latest(meters: readonly AccountMeter[]): AccountMeter {
  return meters.reduce((late, meter) => ((meter.resets_at ?? Infinity) > (late.resets_at ?? Infinity) ? meter : late));
}

function ofWindow(name: AccountMeter["window"], window: AccountWindow): AccountMeter {
  const { limitMicro, bonusMicro } = window;
  return {
    ...{ id: `window-${name}`, kind: "window", window: name, tag: null, value: null },
    limit: limitMicro === null ? null : toCredits(Math.max(0, limitMicro + bonusMicro)),
    bonus: toCredits(bonusMicro),
    ...usesOf(window),
    remaining: toCredits(window.remainingMicro),
  };
}

function ofCap(whose: Pick<AccountMeter, "id" | "kind" | "tag" | "value">, cap: CapBalance): AccountMeter {
  return {
    ...{ ...whose, window: cap.window },
    ...{ limit: toCredits(cap.limitMicro), bonus: 0 },
    ...usesOf(cap),
    remaining: toCredits(cap.remainingMicro),
  };
}

function ofPrepaid({ balanceMicro, heldMicro, lots }: PrepaidState): AccountMeter {
  return {
    ...{ id: "prepaid", kind: "prepaid", window: null, tag: null, value: null, limit: null, bonus: 0, used: 0 },
    held: toCredits(heldMicro),
    remaining: toCredits(Math.max(0, balanceMicro)),
    resets_at: toSeconds(lots[0]?.expiresAt ?? null),
  };
}

function usesOf({ usedMicro, heldMicro, resetsAt }: { usedMicro: number; heldMicro: number; resetsAt: number | null }) {
  return { used: toCredits(usedMicro), held: toCredits(heldMicro), resets_at: toSeconds(resetsAt) };
}
