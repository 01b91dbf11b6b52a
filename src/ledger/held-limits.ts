import type { LeasedCap } from "./cap-limit.js";
import type { Lease } from "./credit-ledger.js";
import type { RateKind, RateUse } from "./rate-limit.js";

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
  readonly takes: readonly Take[];
  /** Whether its lease has expired: then what it took is held no longer. */
  readonly isExpired: boolean;
}

/** What is left of a part whose lease has expired: what it has used by then. */
export function expiredPart({ prepaidAt, caps, takes }: HeldLimits, uses: readonly RateUse[]): HeldLimits {
  return {
    ...{ prepaidAt, caps, isExpired: true },
    takes: takes.map(({ id, kind, taken }) => ({
      id,
      kind,
      taken: uses.find((use) => use.id === id)?.actual ?? taken,
    })),
  };
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
export function usesAtRelease({ takes }: Pick<HeldLimits, "takes">, uses: readonly RateUse[] = []): RateUse[] {
  return takes.map(({ id }) => ({ id, actual: uses.find((use) => use.id === id)?.actual ?? 0 }));
}

/** What a lease has, of which the ledger knows nothing: it holds nothing, and has taken nothing. */
export function partOfLease({ prepaidAt, caps = [], rates = [] }: Lease): HeldLimits | undefined {
  if (prepaidAt === undefined && caps.length === 0 && rates.length === 0) return undefined;
  return { prepaidAt, caps, takes: rates.map(({ id, kind }) => ({ id, kind, taken: 0 })), isExpired: true };
}
