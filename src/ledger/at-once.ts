import type { CreditLedger, Lease, ReserveRequest, ReserveResult, Settlement, SettleResult } from "./credit-ledger.js";
import type { RateUse } from "./rate-limit.js";

/** What a ledger in this process's memory does without a promise, as each call needs it. */
export interface LedgerAtOnce {
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

type Ledger = Pick<CreditLedger, "reserve" | "settle" | "release"> & { readonly [shortcut]?: Shortcut };

/**
 * Lets the gateway call a ledger without promises. A host may copy the ledger, wrap it or replace its methods: a method that
 * is not the ledger's own is called as it is.
 */
export function withAtOnce(ledger: CreditLedger, atOnce: LedgerAtOnce): CreditLedger {
  const { reserve, settle, release } = ledger;
  return Object.defineProperty(ledger, shortcut, { value: { methods: { reserve, settle, release }, atOnce } });
}

/** Reserves, at once where the ledger can. Throws, or rejects, as {@link CreditLedger.reserve} does. */
export function reserveIn(ledger: Ledger, request: ReserveRequest): ReserveResult | Promise<ReserveResult> {
  const own = ledger[shortcut];
  return own?.methods.reserve === ledger.reserve
    ? own.atOnce.reserve(request)
    : Promise.resolve(ledger.reserve(request));
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
