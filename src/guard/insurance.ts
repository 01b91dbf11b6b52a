import type { Clock } from "../ledger/clock.js";
import type {
  CreditLedger,
  Lease,
  Micro,
  ReserveRequest,
  ReserveResult,
  WindowState,
  WindowStates,
} from "../ledger/credit-ledger.js";
import { memoryCreditLedger } from "../ledger/memory-credit-ledger.js";

/** Beyond it, accounts are not insured. */
const mostAccounts = 10_000;

const unknown: WindowState = { limit: null, used: 0, held: 0, bonus: 0, startsAt: null, resetsAt: null };
/** What the ledger would say of the account's stock is not known, so no limit is shown. */
const unknownStates: WindowStates = { session: unknown, week: unknown, month: unknown };

/**
 * Lets calls in while the ledger is away, each account for no more than a certain sum in an outage: less than one request
 * more, as anywhere. What they cost is the ledger's when it is back.
 */
export class Insurance {
  /** `null`: without bound. */
  readonly #most: Micro | null;
  readonly #clock: Clock;
  readonly #insured = new Map<string, CreditLedger>();
  #outage: CreditLedger | undefined;

  constructor(most: Micro | null, clock: Clock) {
    this.#most = most;
    this.#clock = clock;
  }

  /** @returns `undefined` when the account's insurance is used up, or there are too many accounts. */
  async reserve(request: ReserveRequest): Promise<Extract<ReserveResult, { ok: true }> | undefined> {
    this.#outage ??= memoryCreditLedger({ clock: this.#clock, maxAccounts: mostAccounts, historyEntries: 0 });
    const ledger = this.#outage;
    const { session, week, month } = request.limits;
    const limits = {
      session: { ...session, limit: null },
      week: { ...week, limit: null },
      month: { ...month, limit: this.#most },
    };
    let result: ReserveResult;
    try {
      result = await ledger.reserve({ ...request, limits });
    } catch {
      return undefined;
    }
    if (!result.ok) return undefined;
    this.#insured.set(request.id, ledger);
    return { ...result, lease: { ...result.lease, limits: request.limits }, windows: unknownStates };
  }

  covers(lease: Lease): boolean {
    return this.#insured.size > 0 && this.#insured.has(lease.id);
  }

  ledgerOf(lease: Lease): CreditLedger | undefined {
    return this.#insured.get(lease.id);
  }

  /** What the call has cost takes the place of what it held. */
  async settle(lease: Lease, amount: Micro): Promise<WindowStates> {
    const ledger = this.#insured.get(lease.id);
    this.#insured.delete(lease.id);
    await ledger?.settle(lease, { amount });
    return unknownStates;
  }

  /** The ledger is back: the next outage is another one. */
  end(): void {
    this.#outage = undefined;
  }
}
