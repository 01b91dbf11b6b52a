import type { Micro } from "../../metering/micro.js";
import type { LeasedCap } from "../cap-limit.js";
import type { Lease } from "../credit-ledger.js";
import type { RateKind, RateUse } from "../rate-limit.js";

/** What a reservation has of a bucket. */
interface Take {
  readonly id: string;
  readonly kind: RateKind;
  readonly taken: number;
}

/** What a reservation holds beside the windows, or in place of them. */
export interface HeldLimits {
  /** When it was admitted, if its account had prepaid credits then. */
  readonly prepaidAt: number | undefined;
  /** What it held of prepaid credits at its admission. The windows hold the rest. */
  readonly prepaidMicro: Micro;
  readonly caps: readonly Pick<LeasedCap, "id" | "start" | "end">[];
  /** Empty once its lease has expired. */
  readonly takes: readonly Take[];
}

const none: readonly Take[] = [];

/** What is left of a part whose lease has expired. */
export function expiredPart(part: HeldLimits): HeldLimits {
  return { ...part, takes: none };
}

/**
 * What a hold of so much has of prepaid credits; the windows have the rest. What it was raised by since its admission is
 * prepaid where some of it was.
 */
export function heldOfPrepaid(held: Micro, reserved: Micro, part: HeldLimits | undefined): Micro {
  return part === undefined || part.prepaidMicro === 0 || held === 0 ? 0 : held - (reserved - part.prepaidMicro);
}

/** What the takes of a lease come to when it expires: what its renewals had reported. */
export function usesAtExpiry({ takes }: HeldLimits, observed: readonly RateUse[]): RateUse[] {
  return takes.map(({ id, kind, taken }) => {
    const seen = observed.find((use) => use.id === id)?.actual;
    // Whether the request has reached an upstream is not known, so it counts.
    return { id, actual: seen ?? (kind === "tokens" ? 0 : taken) };
  });
}

/** What a release gives back: everything but what `uses` names. */
export function usesAtRelease({ takes }: HeldLimits, uses: readonly RateUse[] = []): RateUse[] {
  return takes.map(({ id }) => ({ id, actual: uses.find((use) => use.id === id)?.actual ?? 0 }));
}

/** What a lease has, of which the ledger knows nothing. */
export function partOfLease(lease: Lease): HeldLimits | undefined {
  const { prepaidAt, caps = [] } = lease;
  if (prepaidAt === undefined && caps.length === 0) return undefined;
  return { prepaidAt, prepaidMicro: prepaidOf(lease), caps, takes: none };
}

/** What a lease held of prepaid credits at its admission. Where the lease does not say how much, it is all of it. */
export function prepaidOf({
  amountMicro,
  prepaidAt,
  prepaidMicro,
}: Pick<Lease, "amountMicro" | "prepaidAt" | "prepaidMicro">): Micro {
  return prepaidAt === undefined ? 0 : (prepaidMicro ?? amountMicro);
}
