import type { LedgerEvent } from "../../../../src/ledger/guard/ledger-event.js";

/** What processes see, all together. Loads and latencies are of calls that began after the warm-up. */
export class ClientFigures {
  /** Of reservations that went to a store, in milliseconds. */
  readonly latenciesMs: number[] = [];
  admitted = 0;
  denied = 0;
  /** Refused without a round trip, since the account was denied a moment ago. */
  deniedAgain = 0;
  unavailableCalls = 0;
  measuredAdmitted = 0;
  measuredUnavailable = 0;
  settledCalls = 0;
  keptSettlements = 0;
  lostSettlements = 0;
  replayedSettlements = 0;
  outages = 0;
  warnings = 0;
  readonly #fromMs: number;
  readonly #toMs: number;

  constructor(fromMs: number, toMs: number) {
    this.#fromMs = fromMs;
    this.#toMs = toMs;
  }

  reserved(askedAt: number, now: number, isAdmitted: boolean): void {
    if (isAdmitted) this.admitted++;
    else this.denied++;
    if (!this.#isMeasured(askedAt)) return;
    if (isAdmitted) this.measuredAdmitted++;
    if (now > askedAt) this.latenciesMs.push(now - askedAt);
  }

  unavailable(askedAt: number): void {
    this.unavailableCalls++;
    if (this.#isMeasured(askedAt)) this.measuredUnavailable++;
  }

  settled(): void {
    this.settledCalls++;
  }

  settlementKept(): void {
    this.keptSettlements++;
  }

  warn(): void {
    this.warnings++;
  }

  ledgerEvent(event: LedgerEvent): void {
    if (event.type === "denied_again") this.deniedAgain++;
    else if (event.type === "unavailable") this.outages++;
    else if (event.type === "settle_lost") this.lostSettlements++;
    else if (event.type === "replayed") {
      for (const count of Object.values(event.statuses)) this.replayedSettlements += count;
    }
  }

  #isMeasured(at: number): boolean {
    return at >= this.#fromMs && at < this.#toMs;
  }
}

/** @param part - such as 0.99. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
