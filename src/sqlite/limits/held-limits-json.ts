import type { AdmittedWindows } from "../../ledger/account-state.js";
import type { HeldLimits } from "../../ledger/limits/held-limits.js";
import type { RateUse } from "../../ledger/rate-limit.js";

/** What a reservation's row says of what it holds beside the windows. */
export interface ParsedHeldLimits {
  readonly part?: HeldLimits;
  /** What its renewals have reported of its rates. */
  readonly uses?: readonly RateUse[] | undefined;
  /** Of one that prepaid credits fund: it has none in their columns. */
  readonly windows?: AdmittedWindows | undefined;
}

interface Stored extends Omit<HeldLimits, "prepaidAt">, Omit<ParsedHeldLimits, "part"> {
  readonly prepaidAt?: number | undefined;
}

export function toHeldLimitsJson(
  { receipt, part }: { receipt: AdmittedWindows; part: HeldLimits | undefined },
  uses?: readonly RateUse[],
): string | null {
  if (part === undefined) return null;
  const { starts, ends } = receipt;
  const windows = part.prepaidAt === undefined ? undefined : { starts, ends };
  const stored: Stored = { ...part, uses, windows };
  return JSON.stringify(stored);
}

export function parseHeldLimits(json: string): ParsedHeldLimits {
  const { prepaidAt, caps, takes, uses, windows }: Stored = JSON.parse(json);
  return { part: { prepaidAt, caps, takes }, uses, windows };
}
