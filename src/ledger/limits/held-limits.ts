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
  readonly prepaidAt: number | undefined;
  readonly caps: readonly Pick<LeasedCap, "id" | "start" | "end">[];
  /** Empty once its lease has expired. */
  readonly takes: readonly Take[];
}

const none: readonly Take[] = [];

/** What is left of a part whose lease has expired. */
export function expiredPart({ prepaidAt, caps }: HeldLimits): HeldLimits {
  return { prepaidAt, caps, takes: none };
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
export function partOfLease({ prepaidAt, caps = [], rates = [] }: Lease): HeldLimits | undefined {
  if (prepaidAt === undefined && caps.length === 0 && rates.length === 0) return undefined;
  return { prepaidAt, caps, takes: none };
}
