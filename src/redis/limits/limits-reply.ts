import { type AccountLimits, newAccountLimits } from "../../ledger/limits/account-limits.js";
import type { HeldLimits } from "../../ledger/limits/held-limits.js";
import type { Micro } from "../../metering/micro.js";
import type { LedgerReply } from "../ledger-reply.js";

/** The ids of caps and rates that an operation names, in the order in which it sends them. */
export interface NamedIds {
  readonly caps?: readonly { readonly id: string }[] | undefined;
  readonly rates?: readonly { readonly id: string }[] | undefined;
}

/** What a script returned of an account beside its windows. */
export interface LimitsReply {
  readonly limits: AccountLimits;
  /** Of the lease that is returned: what it holds of them, as far as it is known. */
  readonly part: HeldLimits | undefined;
  /** Of a settlement: what prepaid credits have paid for its id in all. */
  readonly prepaidMicro: Micro;
}

const never = Number.MIN_SAFE_INTEGER;
const noTakes: HeldLimits["takes"] = [];

/** @returns `undefined`: the account has none of it, and the operation names none. */
export function limitsOf(reply: LedgerReply, named: NamedIds): LimitsReply | undefined {
  const { numbers, firstOfLimits } = reply;
  return firstOfLimits === undefined ? undefined : readLimits(numbers, firstOfLimits, named);
}

function readLimits(numbers: Float64Array, first: number, { caps = [], rates = [] }: NamedIds): LimitsReply {
  let place = first;
  const next = () => numbers[place++] ?? Number.NaN;
  const [lotCount, held, overdrawn] = [next(), next(), next()];
  const lots = Array.from({ length: Math.max(0, lotCount) }, () => ({ expiresAt: next(), left: next() }));
  const prepaid = lotCount < 0 ? undefined : { lots, held, overdrawn };
  const limits: AccountLimits = { ...newAccountLimits(), prepaid };
  const [hasPart, prepaidAt, prepaidMicro] = [next() === 1, next(), next()];
  const leased: { id: string; start: number; end: number }[] = [];
  for (const { id } of caps) {
    const cap = { start: next(), end: next(), used: next(), held: next(), bonus: 0 };
    if (cap.start !== never) limits.caps.set(id, cap);
    const [start, end] = [next(), next()];
    if (start !== never) leased.push({ id, start, end });
  }
  for (const { id } of rates) {
    const bucket = { level: next(), at: next(), held: next(), limit: next(), burst: next() };
    if (bucket.limit !== -1) limits.buckets.set(id, bucket);
  }
  if (!hasPart) return { limits, part: undefined, prepaidMicro };
  const part = { prepaidAt: prepaidAt === never ? undefined : prepaidAt, prepaidMicro, caps: leased, takes: noTakes };
  return { limits, part, prepaidMicro: 0 };
}
