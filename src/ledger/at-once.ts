import type {
  CreditLedger,
  DeniedReservation,
  Lease,
  ReserveRequest,
  ReserveResult,
  Settlement,
  SettleResult,
} from "./credit-ledger.js";
import type { RateUse } from "./limits.js";

/** What a ledger in this process's memory does without a promise, as each call needs it. */
export interface LedgerAtOnce {
  /** What {@link reserve} would be denied with now, whatever amount it asks for; `undefined`: it would be admitted. */
  denial(request: ReserveRequest): DeniedReservation | undefined;
  reserve(request: ReserveRequest): ReserveResult;
  settle(lease: Lease, settlement: Settlement): SettleResult;
  release(lease: Lease, rates?: readonly RateUse[]): SettleResult;
}

/** The methods of a ledger, as they were made, beside what they do in the end. */
interface Shortcut {
  readonly methods: Pick<CreditLedger, "reserve" | "settle" | "release">;
  readonly atOnce: LedgerAtOnce;
}

const shortcut = Symbol("infergate.atOnce");

/** Under this, a ledger that remembers denials gives the one that a reservation would get. */
export const rememberedDenial = Symbol("infergate.rememberedDenial");

type Ledger = Pick<CreditLedger, "reserve" | "settle" | "release"> & {
  readonly [shortcut]?: Shortcut;
  readonly [rememberedDenial]?: (request: ReserveRequest) => DeniedReservation | undefined;
};

/**
 * Lets the gateway call a ledger without promises. A host may copy the ledger, wrap it or replace its methods: a method that
 * is not the ledger's own is called as it is.
 */
export function withAtOnce(ledger: CreditLedger, atOnce: LedgerAtOnce): CreditLedger {
  const { reserve, settle, release } = ledger;
  return Object.defineProperty(ledger, shortcut, { value: { methods: { reserve, settle, release }, atOnce } });
}

/**
 * What a reservation of a new id would be denied with, whatever its amount and what it takes of rates in tokens: no denial
 * depends on these.
 * @returns `undefined` where it would be admitted, and where only {@link reserveIn} can say.
 */
export function denialIn(ledger: Ledger, request: ReserveRequest): DeniedReservation | undefined {
  return reservesOf(ledger)?.denial(request) ?? ledger[rememberedDenial]?.(request);
}

/** Reserves, at once where the ledger can. Throws, or rejects, as {@link CreditLedger.reserve} does. */
export function reserveIn(ledger: Ledger, request: ReserveRequest): ReserveResult | Promise<ReserveResult> {
  const atOnce = reservesOf(ledger);
  return atOnce === undefined ? Promise.resolve(ledger.reserve(request)) : atOnce.reserve(request);
}

/** What reserves in the end. `undefined`: another method than the ledger's own. */
function reservesOf(ledger: Ledger): LedgerAtOnce | undefined {
  const own = ledger[shortcut];
  return own?.methods.reserve === ledger.reserve ? own.atOnce : undefined;
}

/** Settles, at once where the ledger can. Throws, or rejects, as {@link CreditLedger.settle} does. */
export function settleIn(ledger: Ledger, lease: Lease, settlement: Settlement): SettleResult | Promise<SettleResult> {
  const own = ledger[shortcut];
  return own?.methods.settle === ledger.settle
    ? own.atOnce.settle(lease, settlement)
    : Promise.resolve(ledger.settle(lease, settlement));
}

/** Releases, at once where the ledger can. Throws, or rejects, as {@link CreditLedger.release} does. */
export function releaseIn(
  ledger: Ledger,
  lease: Lease,
  rates?: readonly RateUse[],
): SettleResult | Promise<SettleResult> {
  const own = ledger[shortcut];
  if (own?.methods.release === ledger.release) return own.atOnce.release(lease, rates);
  return Promise.resolve(rates === undefined ? ledger.release(lease) : ledger.release(lease, rates));
}
