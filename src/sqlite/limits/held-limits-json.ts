import type { AdmittedLimits, AdmittedWindows } from "../../ledger/account-state.js";
import type { HeldLimits } from "../../ledger/limits/held-limits.js";
import type { RateUse } from "../../ledger/rate-limit.js";
import type { Micro } from "../../metering/micro.js";

/** What a reservation's row says in JSON of what it holds beside the windows. */
export interface RowOfHeldLimits {
  readonly part?: HeldLimits | undefined;
  /** What its renewals have reported of its rates. */
  readonly uses?: readonly RateUse[] | undefined;
  /** Of one that has none in their columns. */
  readonly windows?: AdmittedWindows | undefined;
}

interface Stored extends Pick<HeldLimits, "caps" | "takes">, Omit<RowOfHeldLimits, "part"> {
  /** Of one that holds some of prepaid credits. Processes of the release before take it for all prepaid. */
  readonly prepaidAt?: number | undefined;
  /** How much, where it is not all. */
  readonly prepaidMicro?: Micro | undefined;
  /** When it was admitted, of one that holds nothing of the prepaid credits of its account. */
  readonly at?: number | undefined;
}

const noPart: HeldLimits = { prepaidAt: undefined, prepaidMicro: 0, caps: [], takes: [] };

/** @param reserved - the whole of its amount. */
export function toHeldLimitsJson({ part, uses, windows }: RowOfHeldLimits, reserved: Micro): string | null {
  if (part === undefined && windows === undefined) return null;
  const { prepaidAt, prepaidMicro, caps, takes } = part ?? noPart;
  const prepaid = { prepaidAt, prepaidMicro: prepaidMicro === reserved ? undefined : prepaidMicro };
  const stored: Stored = { ...(prepaidMicro > 0 ? prepaid : { at: prepaidAt }), caps, takes, uses, windows };
  return JSON.stringify(stored);
}

export function parseHeldLimits(json: string, reserved: Micro): RowOfHeldLimits {
  const { prepaidAt, prepaidMicro, at, caps, takes, uses, windows }: Stored = JSON.parse(json);
  const held = prepaidAt === undefined ? 0 : (prepaidMicro ?? reserved);
  return { part: { prepaidAt: prepaidAt ?? at, prepaidMicro: held, caps, takes }, uses, windows };
}

/** In SQL: when it was admitted, if its account had prepaid credits then. */
export const admittedAtInJson = "coalesce(json_extract(held_limits, '$.prepaidAt'), json_extract(held_limits, '$.at'))";

export function toLimitsJson({ session, week, month }: AdmittedLimits): string {
  return JSON.stringify([session.limitMicro, week.limitMicro, month.limitMicro]);
}

export function parseLimits(json: string): AdmittedLimits {
  const [session, week, month]: [Micro | null, Micro | null, Micro | null] = JSON.parse(json);
  return { session: { limitMicro: session }, week: { limitMicro: week }, month: { limitMicro: month } };
}
