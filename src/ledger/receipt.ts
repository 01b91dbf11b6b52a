import type { Micro } from "../metering/micro.js";
import type { AdmittedWindows, WindowInstance } from "./account-state.js";
import type { CapLimit, LeasedCap } from "./cap-limit.js";
import { type Lease, LedgerConflictError, type ReserveRequest } from "./credit-ledger.js";
import { openLimits } from "./limits/account-limits.js";
import type { HeldLimits } from "./limits/held-limits.js";

/** What a store keeps of a reservation until shortly after its end, to recognise repetitions. */
export interface Receipt extends AdmittedWindows {
  readonly account: string;
  readonly amountMicro: Micro;
  readonly expiresAt: number;
  /** What prepaid credits have paid of its cost. Absent: nothing. */
  readonly prepaidMicro?: Micro | undefined;
}

/** Of an entry that names no window. */
export const noStarts: Lease["starts"] = Object.freeze({}) as Lease["starts"];

/** The windows that an entry of the journal names: those in which its amount counts. */
export function startsOfEntry(starts: Lease["starts"], amount: Micro, prepaid: Micro): Lease["starts"] {
  return prepaid !== 0 && prepaid === amount ? noStarts : starts;
}

/** The lease of a reservation. @param part - what it holds beside the windows; `undefined`: nothing, or it is not known any more. */
export function toLease(
  { id, limits, caps, rates }: Pick<ReserveRequest, "id" | "limits" | "caps" | "rates">,
  receipt: Receipt,
  part?: HeldLimits,
): Lease {
  const { account, amountMicro, expiresAt, starts, ends } = receipt;
  const lease = { id, account, amountMicro, expiresAt, starts, ends, limits };
  if (part === undefined) return lease;
  return {
    ...lease,
    ...(part.prepaidAt !== undefined && { prepaidAt: part.prepaidAt, prepaidMicro: part.prepaidMicro }),
    ...(caps !== undefined && { caps: leasedCaps(caps, part.caps) }),
    ...(rates !== undefined && { rates }),
  };
}

/** The caps of a lease where nothing is known of their instances. @throws LedgerClockError when the bounds miss `now`. */
export function freshCaps(caps: readonly CapLimit[], now: number): LeasedCap[] {
  const open = openLimits(undefined, { caps }, now).caps;
  return caps.map(({ id, window, limitMicro }, index) => {
    const { start, end } = open[index] as WindowInstance;
    return { id, window, limitMicro, start, end };
  });
}

function leasedCaps(caps: readonly CapLimit[], held: HeldLimits["caps"]): LeasedCap[] {
  return caps.flatMap(({ id, window, limitMicro }) => {
    const part = held.find((cap) => cap.id === id);
    return part === undefined ? [] : [{ id, window, limitMicro, start: part.start, end: part.end }];
  });
}

/**
 * Tells a reservation from all others of a ledger. Its id alone does not: a ledger may let two accounts use the same one.
 * NUL is in no account's id.
 */
export function leaseKey({ account, id }: Pick<Lease, "account" | "id">): string {
  return `${account}\0${id}`;
}

interface Identity {
  readonly account: string;
  readonly amountMicro: Micro;
}

/** @throws LedgerConflictError when the id is known for another account or amount. */
export function requireSame(id: string, known: Identity, given: Identity): void {
  if (known.account === given.account && known.amountMicro === given.amountMicro) return;
  throw new LedgerConflictError(
    `${id} was used before with another ${known.account === given.account ? "amount" : "account"}.`,
  );
}
