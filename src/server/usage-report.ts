/** One window of an account, in micro-credits; times in epoch milliseconds. */
export interface UsageWindowInput {
  /** The limit including grants; `null`: unlimited. */
  limitMicro: number | null;
  usedMicro: number;
  heldMicro: number;
  remainingMicro: number | null;
  resetsAt: number | null;
}

export interface UsageReportInput {
  plan: string;
  windows: Readonly<Record<"session" | "week" | "month", UsageWindowInput>>;
}

const microPerCredit = 1_000_000;

/** The usage object as JSON text: amounts in credits, instants in epoch seconds, rounded up as in the headers. */
export function usageReport({ plan, windows }: UsageReportInput): string {
  const { session, week, month } = windows;
  return JSON.stringify({
    object: "usage",
    plan,
    windows: { session: toWire(session), week: toWire(week), month: toWire(month) },
  });
}

function toWire({ limitMicro, usedMicro, heldMicro, remainingMicro, resetsAt }: UsageWindowInput) {
  return {
    limit: credits(limitMicro),
    used: credits(usedMicro),
    held: credits(heldMicro),
    remaining: credits(remainingMicro),
    resets_at: resetsAt === null ? null : Math.ceil(resetsAt / 1000),
  };
}

function credits(micro: number | null): number | null {
  return micro === null ? null : micro / microPerCredit;
}
