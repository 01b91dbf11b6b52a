import { systemClock } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { GuardedCreditLedger, type GuardOptions } from "../../../src/ledger/guard/guarded-credit-ledger.js";
import type { LedgerEvent } from "../../../src/ledger/guard/ledger-event.js";

/** The ledger behind a guard with the gateway's defaults, and the guard's events. */
export function guarded(ledger: CreditLedger, options: Partial<GuardOptions> = {}) {
  const events: LedgerEvent[] = [];
  const guard = new GuardedCreditLedger(ledger, {
    reserveTimeoutMs: 250,
    settleTimeoutMs: 2_000,
    settleBeforeEndMs: options.reserveTimeoutMs ?? 250,
    insureMicro: undefined,
    maxKeptSettlements: 10_000,
    replayMs: 15_000,
    denialCacheMs: 2_000,
    mayRemember: () => true,
    clock: systemClock,
    emit: (event) => events.push(event),
    ...options,
  });
  const types = () => events.map(({ type }) => type);
  return { guard, events, types };
}
