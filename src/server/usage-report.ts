/** One window of an account, in micro-credits; times in epoch milliseconds. */
export interface UsageWindowInput {
  /** The limit including grants; `null`: unlimited. */
  limitMicro: number | null;
  usedMicro: number;
  heldMicro: number;
  remainingMicro: number | null;
  resetsAt: number | null;
}

/** A cap of the key or of a budget. */
export interface UsageCapInput extends UsageWindowInput {
  window: "day" | "week" | "month" | "total";
}

export interface UsageReportInput {
  plan: string;
  windows: Readonly<Record<"session" | "week" | "month", UsageWindowInput>>;
  /** Of the key. */
  caps: readonly UsageCapInput[];
  /** Those that have caps. */
  budgets: readonly { tag: string; caps: readonly UsageCapInput[] }[];
  /** In micro-credits, and epoch milliseconds. `undefined`: the account has none. */
  prepaid: UsagePrepaidInput | undefined;
}

/** The prepaid credits of an account. */
export interface UsagePrepaidInput {
  remainingMicro: number;
  heldMicro: number;
  overdrawnMicro: number;
  /** `null`: what is left never expires. */
  expiresAt: number | null;
}

/** One window of {@link UsageReport}. */
export interface UsageReportWindow {
  /** Credits; `null`: unlimited. */
  limit: number | null;
  /** Credits that were charged. */
  used: number;
  /** Credits that calls in progress hold. */
  held: number;
  /** Credits; `null`: unlimited. */
  remaining: number | null;
  /** Epoch seconds, rounded up; `null` where no window is open. */
  resets_at: number | null;
}

/** What `GET /v1/usage` responds with. */
export interface UsageReport {
  object: "usage";
  plan: string;
  windows: Readonly<Record<"session" | "week" | "month", UsageReportWindow>>;
  /** Present where the API key has caps of its own. */
  key?: { limits: UsageReportCaps };
  /** Present where budgets with caps limit the caller: each with the name of its tag. */
  budgets?: readonly { tag: string; limits: UsageReportCaps }[];
  /** The account's prepaid credits; absent where it has never had any. */
  prepaid?: UsageReportPrepaid;
}

/** Caps of {@link UsageReport}, by their windows. */
export type UsageReportCaps = Readonly<Partial<Record<"day" | "week" | "month" | "total", UsageReportWindow>>>;

/** The prepaid credits of {@link UsageReport}. */
export interface UsageReportPrepaid {
  /** Credits; never below 0. Those that calls in progress hold are among them. */
  remaining: number;
  /** Credits that calls in progress hold. */
  held: number;
  /** The account's debt in credits: what it has spent, or what was taken back, beyond what it had. 0: none. */
  overdrawn: number;
  /** When the first of them expire, in epoch seconds, rounded up; `null`: none of them ever does. */
  expires_at: number | null;
}

const microPerCredit = 1_000_000;

/** The usage object as JSON text: amounts in credits, instants in epoch seconds, rounded up as in the headers. */
export function usageReport({ plan, windows, prepaid, caps, budgets }: UsageReportInput): string {
  const { session, week, month } = windows;
  const report: UsageReport = {
    object: "usage",
    plan,
    windows: { session: toWire(session), week: toWire(week), month: toWire(month) },
    ...(prepaid !== undefined && { prepaid: prepaidToWire(prepaid) }),
    ...(caps.length > 0 && { key: { limits: capsToWire(caps) } }),
    ...(budgets.length > 0 && {
      budgets: budgets.map((budget) => ({ tag: budget.tag, limits: capsToWire(budget.caps) })),
    }),
  };
  return JSON.stringify(report);
}

function capsToWire(caps: readonly UsageCapInput[]): UsageReportCaps {
  return Object.fromEntries(caps.map((cap) => [cap.window, toWire(cap)]));
}

function toWire({ limitMicro, usedMicro, heldMicro, remainingMicro, resetsAt }: UsageWindowInput): UsageReportWindow {
  return {
    limit: creditsOrNull(limitMicro),
    used: credits(usedMicro),
    held: credits(heldMicro),
    remaining: creditsOrNull(remainingMicro),
    resets_at: secondsOrNull(resetsAt),
  };
}

function prepaidToWire(prepaid: UsagePrepaidInput): UsageReportPrepaid {
  return {
    remaining: credits(prepaid.remainingMicro),
    held: credits(prepaid.heldMicro),
    overdrawn: credits(prepaid.overdrawnMicro),
    expires_at: secondsOrNull(prepaid.expiresAt),
  };
}

function secondsOrNull(instant: number | null): number | null {
  return instant === null ? null : Math.ceil(instant / 1000);
}

function credits(micro: number): number {
  return micro / microPerCredit;
}

function creditsOrNull(micro: number | null): number | null {
  return micro === null ? null : credits(micro);
}
