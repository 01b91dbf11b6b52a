import type { Micro } from "../../prices/micro.js";
import { isError, messageOf } from "../../runtime/host-code.js";
import { rememberedDenial } from "../at-once.js";
import type { Clock } from "../calendar.js";
import {
  type Balance,
  type CreditLedger,
  type DeniedReservation,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type Lease,
  LedgerUnavailableError,
  type RenewRequest,
  type RenewStatus,
  type ReserveRequest,
  type ReserveResult,
  type Settlement,
  type SettleResult,
  type SettleStatus,
  type WindowLimits,
  type WindowName,
  type WindowStates,
} from "../credit-ledger.js";
import { isLedgerRefusal } from "../ledger-refusal.js";
import type { DeductRequest, PrepaidState, RateUse, TopUpRequest } from "../limits.js";
import { atMost } from "../promised.js";
import type { NamedLimits } from "../rules/account-limits.js";
import type {
  AccountStatement,
  PeriodTotal,
  StatementRequest,
  TotalsRequest,
  UsageRequest,
  UsageSum,
} from "../usage/usage-request.js";
import { Denials } from "./denials.js";
import { Insurance } from "./insurance.js";
import { Availability, BoundedCall, type LedgerCaller, ReserveCall, type ReserveParts } from "./ledger-call.js";
import type { Emit, LedgerHealth } from "./ledger-event.js";
import { RecentSettlements } from "./recent-settlements.js";
import { type LeaseEnd, SettleOutbox } from "./settle-outbox.js";
import { TimeLimit } from "./time-limit.js";

/** Options of a {@link GuardedCreditLedger}. */
export interface GuardOptions {
  reserveTimeoutMs: number;
  settleTimeoutMs: number;
  /** How long a response waits for its settlement. */
  settleBeforeEndMs: number;
  /** Whether calls are admitted while the ledger is away. `null`: all. A number: up to this sum for each account. */
  insureMicro: Micro | null | undefined;
  maxKeptSettlements: number;
  replayMs: number;
  denialCacheMs: number;
  /**
   * Whether a denial of a reservation that starts now may be remembered: a notice of the grant that ends it would
   * arrive.
   */
  mayRemember: () => boolean;
  /** Whether no request may wait for what another one has begun: see {@link isIsolate}. */
  isolate?: boolean | undefined;
  clock: Clock;
  emit: Emit;
}

/** How often an operation is tried within its time limit. */
const attempts = 3;
const leasesPerRenewal = 500;
/** The next part of a renewal starts after this time at most, since leases expire meanwhile. */
const renewalHeadStartMs = 250;
/** For what reads or deletes as much as an account has, and for sweeps. */
const longTimeoutMs = 30_000;
const closeMs = 5_000;

/**
 * Stands between the gateway and the host's ledger, which may be slow, hang, fail, or come back as another server. Each
 * operation ends in bounded time. Failed operations are sent again with the same id. A settlement that does not get
 * through is kept until it does. Settlements that a store may have lost are sent again.
 */
export class GuardedCreditLedger implements CreditLedger {
  readonly #ledger: CreditLedger;
  readonly #emit: Emit;
  readonly #reserveLimit: TimeLimit;
  /** How long a response waits for its settlement. */
  readonly #responseLimit: TimeLimit;
  readonly #settleLimit: TimeLimit;
  readonly #longLimit: TimeLimit;
  readonly #availability: Availability;
  readonly #denials: Denials;
  readonly #mayRemember: () => boolean;
  readonly #isolate: boolean;
  readonly #outbox: SettleOutbox;
  readonly #recent: RecentSettlements;
  readonly #insurance: Insurance | undefined;
  readonly #reserveParts: ReserveParts;
  /** Requests whose calls end with a charge. Their holds are not released, even while the charge is being sent. */
  readonly #insured = new WeakSet<ReserveRequest>();
  /** Reservations that nobody waits for any more, and that may still come. */
  readonly #left = new Set<Promise<void>>();
  readonly #stopListening: (() => void) | undefined;
  /** Whether the ledger responds again. While it is away, only one reservation at a time tests it. */
  #probe: Promise<boolean> | undefined;
  /** Absent where the ledger has none. */
  readonly history?: (request: HistoryRequest) => Promise<HistoryPage>;
  readonly usage?: (request: UsageRequest) => Promise<readonly UsageSum[]>;
  readonly totals?: (request: TotalsRequest) => Promise<readonly PeriodTotal[]>;
  readonly statement?: (request: StatementRequest) => Promise<AccountStatement>;
  readonly topUp?: (request: TopUpRequest) => Promise<PrepaidState>;
  readonly deduct?: (request: DeductRequest) => Promise<PrepaidState>;
  readonly claimTopUp?: (id: string, account: string) => Promise<void>;
  readonly sweep?: () => Promise<number>;
  readonly keepsLimits: boolean;

  constructor(ledger: CreditLedger, options: GuardOptions) {
    const { clock, emit, insureMicro, isolate = false } = options;
    this.#ledger = ledger;
    this.#emit = emit;
    this.#isolate = isolate;
    const { reserveTimeoutMs, settleTimeoutMs, settleBeforeEndMs } = options;
    this.#reserveLimit = new TimeLimit(reserveTimeoutMs, Math.max(reserveTimeoutMs, settleTimeoutMs), isolate);
    this.#responseLimit = new TimeLimit(settleBeforeEndMs, settleBeforeEndMs, isolate);
    this.#settleLimit = new TimeLimit(settleTimeoutMs, settleTimeoutMs, isolate);
    this.#longLimit = new TimeLimit(longTimeoutMs, longTimeoutMs, isolate);
    this.#denials = new Denials(clock, options.denialCacheMs);
    this.#mayRemember = options.denialCacheMs > 0 ? options.mayRemember : () => false;
    this.#insurance = insureMicro === undefined ? undefined : new Insurance(insureMicro, clock);
    this.#availability = new Availability({
      ...{ clock, emit },
      onAnswer: () => this.#reserveLimit.extend(),
      onReturn: (downSince) => {
        this.#outbox.resume();
        this.#recent.replay(downSince);
      },
    });
    const limit = this.#settleLimit;
    const availability = this.#availability;
    this.#recent = new RecentSettlements({
      ...{ ledger, limit, clock, emit },
      // A replay goes on for as long as it takes, which no request of an isolate does.
      rememberMs: isolate ? 0 : options.replayMs,
      onAnswer: availability,
    });
    this.#outbox = new SettleOutbox({
      ...{ ledger, limit, clock, emit },
      responseLimit: this.#responseLimit,
      most: options.maxKeptSettlements,
      isolate,
      onAnswer: {
        get isDown() {
          return availability.isDown;
        },
        succeeded: () => availability.succeeded(),
        failed: (operation, cause) => availability.failed(operation, cause),
        settled: (...settled) => this.#settled(...settled),
      },
    });
    this.#reserveParts = {
      ...{ ledger, availability, limit: this.#reserveLimit },
      giveBack: (request, late) => this.#giveBack(request, late),
      left: (attempt) => this.#keepLeft(attempt),
    };
    if (ledger.history !== undefined) {
      this.history = (request) =>
        this.#bounded("history", async () => (await ledger.history?.(request)) ?? { entries: [] }, this.#longLimit);
    }
    const usage = ledger.usage?.bind(ledger);
    if (usage !== undefined) {
      this.usage = (request) => this.#bounded("usage", () => usage(request), this.#longLimit);
    }
    const totals = ledger.totals?.bind(ledger);
    if (totals !== undefined) {
      this.totals = (request) => this.#bounded("totals", () => totals(request), this.#longLimit, 1);
    }
    const statement = ledger.statement?.bind(ledger);
    if (statement !== undefined) {
      this.statement = (request) => this.#bounded("statement", () => statement(request), this.#longLimit);
    }
    this.keepsLimits = ledger.keepsLimits === true;
    const topUp = ledger.topUp?.bind(ledger);
    if (topUp !== undefined) {
      this.topUp = (request) => this.#change(request.account, () => this.#bounded("topUp", () => topUp(request)));
    }
    const deduct = ledger.deduct?.bind(ledger);
    if (deduct !== undefined) {
      this.deduct = (request) => this.#change(request.account, () => this.#bounded("deduct", () => deduct(request)));
    }
    const claimTopUp = ledger.claimTopUp?.bind(ledger);
    if (claimTopUp !== undefined) {
      this.claimTopUp = (id, account) => this.#bounded("claimTopUp", () => claimTopUp(id, account));
    }
    const sweep = ledger.sweep?.bind(ledger);
    // The next one does what this one could not.
    if (sweep !== undefined) this.sweep = () => this.#bounded("sweep", sweep, this.#longLimit, 1);
    this.#stopListening = ledger.onReconnected?.(() => this.#recent.replay(clock.now()));
  }

  get health(): LedgerHealth {
    return { ...this.#availability.history, ...this.#outbox.backlog };
  }

  [rememberedDenial](request: ReserveRequest): DeniedReservation | undefined {
    const known = this.#denials.find(request);
    if (known !== undefined) this.#emit({ type: "denied_again", account: request.account });
    return known;
  }

  reserve(request: ReserveRequest): Promise<ReserveResult> {
    const known = this[rememberedDenial](request);
    if (known !== undefined) return Promise.resolve(known);
    const { changes } = this.#denials;
    const mayRemember = this.#mayRemember();
    return new Promise((resolve, reject) => {
      const caller: LedgerCaller<ReserveResult> = {
        resolve: (result) => {
          this.#insurance?.end(request.account);
          if (!result.ok && mayRemember) this.#denials.add(request, result, changes);
          resolve(result);
        },
        reject: (error) => {
          const insured = this.#insure(request, error);
          if (insured === undefined) reject(toUnavailable(error));
          else resolve(insured);
        },
      };
      if (this.#availability.isDown && !this.#isolate) {
        this.#reserveAgain(request).then(caller.resolve, caller.reject);
      } else new ReserveCall(this.#reserveParts, request, attempts, caller).start();
    });
  }

  settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
    return this.#end({ lease, settlement });
  }

  release(lease: Lease, rates?: readonly RateUse[]): Promise<SettleResult> {
    return this.#end({ lease, settlement: undefined, ...(rates !== undefined && { rates }) });
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    const statuses: RenewStatus[] = new Array(requests.length);
    const own: number[] = [];
    for (const [index, request] of requests.entries()) {
      this.#denials.drop(request.lease.account);
      if (this.#insurance?.covers(request.lease)) {
        this.#insurance.renew(request.lease, request.observedMicro);
        statuses[index] = "renewed";
      } else own.push(index);
    }
    const failures: unknown[] = [];
    const parts: Promise<void>[] = [];
    for (let first = 0; first < own.length; first += leasesPerRenewal) {
      const places = own.slice(first, first + leasesPerRenewal);
      const some = places.map((place) => requests[place] as RenewRequest);
      const part = this.#bounded("renew", () => this.#ledger.renew(some)).then(
        (answers) => {
          for (const [index, place] of places.entries()) statuses[place] = answers[index] ?? "closed";
        },
        (error: unknown) => {
          // The other accounts' leases must still be renewed.
          failures.push(error);
        },
      );
      parts.push(part);
      if (first + leasesPerRenewal < own.length) await atMost(renewalHeadStartMs, part);
    }
    await Promise.all(parts);
    if (failures.length > 0) throw failures[0];
    return statuses;
  }

  balance(account: string, limits: WindowLimits, of?: NamedLimits): Promise<Balance> {
    return this.#bounded("balance", () => this.#ledger.balance(account, limits, of));
  }

  grant(request: GrantRequest): Promise<WindowStates> {
    return this.#change(request.account, () => this.#bounded("grant", () => this.#ledger.grant(request)));
  }

  reset(account: string, windows: readonly WindowName[]): Promise<void> {
    return this.#change(account, () => this.#bounded("reset", () => this.#ledger.reset(account, windows)));
  }

  forget(account: string): Promise<void> {
    return this.#change(account, () => this.#bounded("forget", () => this.#ledger.forget(account), this.#longLimit));
  }

  /** Resolves when all settlements that are under way or kept now are accepted or given up, or after `maxMs`. */
  idle(maxMs: number): Promise<void> {
    return this.#outbox.idle(maxMs);
  }

  /** The account's grants or use have changed, perhaps in another process. */
  changed(account: string): void {
    this.#denials.forget(account);
  }

  /**
   * Resolves when the ledger has taken all that was kept, and has answered the reservations that nobody waits for any more,
   * so that no hold is left; or after five seconds. Attempts that still run do not keep the process alive then. The ledger stays open: it is the host's.
   */
  async close(): Promise<void> {
    this.#stopListening?.();
    const closing = performance.now() + closeMs;
    await this.#outbox.close(closeMs, Promise.all(this.#left));
    await this.#recent.close(Math.max(0, closing - performance.now()));
    for (const limit of [this.#reserveLimit, this.#responseLimit, this.#settleLimit, this.#longLimit]) limit.close();
  }

  /** The ledger was not available a moment ago. */
  async #reserveAgain(request: ReserveRequest): Promise<ReserveResult> {
    if (this.#probe !== undefined) {
      // With insurance, the caller need not wait for the probe: it fails at once.
      if (this.#insurance !== undefined || !(await this.#probe)) {
        throw new LedgerUnavailableError("The ledger was not available a moment ago.");
      }
      return await this.#tryReserve(request, attempts);
    }
    const attempt = this.#tryReserve(request, 1);
    this.#probe = attempt.then(() => true, isLedgerRefusal);
    try {
      return await attempt;
    } finally {
      this.#probe = undefined;
    }
  }

  #tryReserve(request: ReserveRequest, attempts: number): Promise<ReserveResult> {
    return new Promise((resolve, reject) => {
      new ReserveCall(this.#reserveParts, request, attempts, { resolve, reject }).start();
    });
  }

  /** @returns what admits the call nevertheless, if it is insured. @param error - why the ledger has not admitted it. */
  #insure(request: ReserveRequest, error: unknown): ReserveResult | undefined {
    if (isLedgerRefusal(error)) return undefined;
    const insured = this.#insurance?.reserve(request);
    if (insured === undefined) return undefined;
    this.#insured.add(request);
    const { id: requestId, account, amountMicro: heldMicro } = request;
    this.#emit({ type: "insured", requestId, account, heldMicro });
    return insured;
  }

  #giveBack(request: ReserveRequest, late: ReserveResult): void {
    if (!late.ok || typeof late.lease?.id !== "string" || this.#insured.has(request)) return;
    this.#outbox.keep({ lease: late.lease, settlement: undefined });
  }

  #keepLeft(attempt: Promise<unknown>): void {
    const onOver = () => {
      this.#left.delete(over);
    };
    const over = attempt.then(onOver, onOver);
    this.#left.add(over);
  }

  #end(ending: LeaseEnd): Promise<SettleResult> {
    const { lease, settlement } = ending;
    if (this.#insurance?.covers(lease)) {
      const windows = this.#insurance.settle(lease, settlement?.amountMicro ?? 0);
      this.#outbox.keep({ ...ending, insured: true });
      return Promise.resolve({ status: "settled", windows });
    }
    if (this.#availability.isDown && !this.#isolate) return Promise.reject(this.#outbox.keep(ending));
    return this.#outbox.send(ending);
  }

  #settled(ending: LeaseEnd, { status }: SettleResult, sentAt: number, isLate: boolean): void {
    const { lease, settlement } = ending;
    if (isLate) this.#tellUnresolved(ending, status);
    // An expiry may have charged more than the call has cost.
    if (status === "late") this.#denials.forget(lease.account);
    else this.#denials.drop(lease.account);
    if (settlement !== undefined && status !== "unresolved") this.#recent.add(lease, settlement, sentAt);
  }

  #tellUnresolved({ lease, settlement }: LeaseEnd, status: SettleStatus): void {
    if (status !== "unresolved") return;
    const { id: requestId, account } = lease;
    this.#emit({ type: "settle_unresolved", requestId, account, chargedMicro: settlement?.amountMicro ?? 0 });
  }

  /** Forgets the account's denial before the change, which may take effect without a result, and after it. */
  async #change<Result>(account: string, change: () => Promise<Result>): Promise<Result> {
    this.#denials.forget(account);
    try {
      return await change();
    } finally {
      this.#denials.forget(account);
    }
  }

  #bounded<Result>(
    name: string,
    send: () => Promise<Result>,
    limit = this.#settleLimit,
    most = attempts,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const caller = { resolve, reject: (error: unknown) => reject(toUnavailable(error)) };
      new BoundedCall({ name, limit, attempts: most, send }, this.#availability, caller).start();
    });
  }
}

function toUnavailable(error: unknown): unknown {
  if (isLedgerRefusal(error) || (isError(error) && error.name === "LedgerUnavailableError")) return error;
  const reason = messageOf(error);
  return new LedgerUnavailableError(`The ledger failed: ${reason}`, { cause: error });
}
