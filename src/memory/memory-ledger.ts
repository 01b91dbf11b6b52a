import {
  admittingInstances,
  blockedWindows,
  canHold,
  closeEmptySession,
  currentStates,
  isForgottenLease,
  noInstances,
  windowStates,
  withSession,
} from "../ledger/account-state.js";
import { LiveStates } from "../ledger/calls/live-states.js";
import type { Clock } from "../ledger/clock.js";
import {
  type AccountCredits,
  type Balance,
  type DeniedReservation,
  type EntryTags,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type Lease,
  LedgerConflictError,
  type LedgerEntry,
  LedgerInputError,
  type RenewRequest,
  type RenewStatus,
  type ReserveRequest,
  type ReserveResult,
  type Settlement,
  type SettleResult,
  type WindowLimits,
  type WindowName,
  type WindowStates,
} from "../ledger/credit-ledger.js";
import { authorTags } from "../ledger/journal/author-tags.js";
import { nextTurn } from "../ledger/journal/next-turn.js";
import { judgeReservation, neededMicro, noPrepaidHold } from "../ledger/judge-reservation.js";
import {
  checkAccount,
  checkDeduct,
  checkGrant,
  checkHistory,
  checkLease,
  checkLimits,
  checkNamed,
  checkRenew,
  checkReserve,
  checkSettle,
  checkTopUp,
  checkTotals,
  checkUses,
} from "../ledger/ledger-input.js";
import { canHoldIn, endHold, holdLimits, type NamedLimits, newAccountLimits } from "../ledger/limits/account-limits.js";
import { expiredPart, type HeldLimits, partOfLease, usesAtRelease } from "../ledger/limits/held-limits.js";
import { creditsAfter, creditsOf } from "../ledger/limits/limit-states.js";
import { noUses } from "../ledger/limits/no-uses.js";
import {
  addTopUp,
  chargePrepaid,
  firstExpired,
  lapse,
  neverExpires,
  newPrepaid,
  type Prepaid,
  prepaidState,
} from "../ledger/limits/prepaid.js";
import type { ChargedCall } from "../ledger/limits/prepaid-share.js";
import type { DeductRequest, PrepaidState, TopUpRequest } from "../ledger/prepaid-state.js";
import type { RateUse } from "../ledger/rate-limit.js";
import { type Receipt, requireSame, startsOfEntry, toLease } from "../ledger/receipt.js";
import { type Settled, settledAs } from "../ledger/settled-as.js";
import type { AccountStatement, StatementRequest } from "../ledger/statement/account-statement.js";
import { endedAtTag, StatementBooks } from "../ledger/statement/statement-books.js";
import { TotalSums } from "../ledger/usage/total-sums.js";
import type { PeriodTotal, TotalsRequest } from "../ledger/usage/usage-totals.js";
import { dayMs } from "../ledger/windows.js";
import type { Micro } from "../metering/micro.js";
import type { Account, Hold } from "./account.js";
import { AccountMap } from "./account-map.js";
import { lapseUntil } from "./lapse-until.js";
import { MemoryJournal, noTags } from "./memory-journal.js";
import { ReceiptTable } from "./receipt-table.js";
import { RotatingMap } from "./rotating-map.js";

const closedMemoryMs = 60_000;
const expiredMemoryMs = 3_600_000;
const forgottenMemoryMs = dayMs;
const grantMemoryMs = 31 * dayMs;
const inspectedPerReserve = 2;
const entriesPerPage = 1_000;
/** Some milliseconds of work. */
const entriesPerTurn = 250;

type EndKind = "charge" | "release";

/** What the journal records of a reservation's end. */
interface EndEntry {
  readonly kind: EndKind;
  readonly amountMicro: Micro;
  readonly prepaidMicro: Micro;
  /** What prepaid credits have paid in all, if it was charged before. */
  readonly paid?: Micro;
  readonly tags: EntryTags | undefined;
}

type ChargedAmounts = Pick<EndEntry, "amountMicro" | "prepaidMicro">;

type ChargeEntry = Pick<LedgerEntry, "kind" | "id" | "tags"> & ChargedAmounts;

type Denial = Pick<DeniedReservation, "blocked" | "blockedCaps" | "blockedRates">;

const noNames: NamedLimits = Object.freeze({});

/** A hold that expired without a settlement. */
interface ExpiredHold {
  readonly account: Account;
  readonly receipt: Receipt;
  /** What its expiry and later renewals have charged. */
  readonly checkpoint: Micro;
  /** What prepaid credits have paid of that. */
  readonly paid: Micro;
  readonly limits: WindowLimits;
  readonly part: HeldLimits | undefined;
  readonly tags: EntryTags | undefined;
}

const noStarts: Lease["starts"] = Object.freeze({}) as Lease["starts"];

/**
 * Every operation runs to its end synchronously. Those that each call needs return their results without a promise, and the
 * windows of an account that has nothing beside them as {@link LiveStates}.
 */
export class MemoryLedger {
  readonly #clock: Clock;
  readonly #accounts: AccountMap;
  readonly #holds = new Map<string, Hold>();
  readonly #expired = new RotatingMap<ExpiredHold>(expiredMemoryMs);
  readonly #closed = new RotatingMap<Receipt>(closedMemoryMs, (expected) => new ReceiptTable(expected));
  /** When accounts were forgotten. */
  readonly #forgotten = new RotatingMap<number>(forgottenMemoryMs);
  readonly #grants = new RotatingMap<GrantRequest>(grantMemoryMs);
  /** What was added to prepaid credits, and what was deducted: negative. */
  readonly #topUps = new RotatingMap<TopUpRequest>(grantMemoryMs);
  /** The accounts that their ids belong to, as a ledger of several has it. */
  readonly #claims = new RotatingMap<string>(grantMemoryMs);
  readonly #journal: MemoryJournal;

  constructor(clock: Clock, maxAccounts: number, historyEntries: number) {
    this.#clock = clock;
    this.#accounts = new AccountMap(maxAccounts);
    this.#journal = new MemoryJournal(historyEntries);
  }

  reserve(request: ReserveRequest): ReserveResult {
    checkReserve(request);
    const { id, account: accountId, amountMicro, limits, leaseMs } = request;
    const now = this.#clock.now();
    this.#accounts.inspect(inspectedPerReserve, now);
    const known = this.#find(accountId, now);
    const open = admittingInstances(known ?? noInstances, limits, now);
    const replayed = this.#replay(request, now);
    if (replayed) return replayed;

    const { denial, prepaid, named } = judgeReservation(open, known?.limits, request, now);
    if (denial) return denied(denial, creditsOf(known, limits, request, now), now);
    const hasNames = request.caps !== undefined || request.rates !== undefined;
    const hasPart = prepaid !== undefined || hasNames;
    if (!canHold(open, amountMicro) || (hasPart && !canHoldIn(known?.limits, named, amountMicro))) {
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large to be held on top of the rest.`);
    }

    const account = known ?? this.#accounts.add(accountId, now);
    const isAllPrepaid = prepaid !== undefined && prepaid.prepaidMicro > 0 && prepaid.prepaidMicro === amountMicro;
    const { starts, ends } = isAllPrepaid
      ? account.windowsOf(withSession(open, limits, now))
      : account.admit(open, limits, amountMicro, now);
    const admission = { id, account: accountId, amountMicro, expiresAt: now + leaseMs, starts, ends, limits };
    let part: HeldLimits | undefined;
    if (hasPart) {
      account.limits ??= newAccountLimits();
      part = holdLimits(account.limits, named, request, prepaid ?? noPrepaidHold);
    }
    this.#holds.set(id, account.hold(request, admission, part));
    if (account.limits === undefined && !hasNames) {
      return { ok: true, lease: admission, windows: new LiveStates(account, limits, now), now, replayed: false };
    }
    const lease = toLease(request, admission, part);
    return admitted(lease, creditsOf(account, limits, request, now), now, false);
  }

  denial(request: ReserveRequest): DeniedReservation | undefined {
    const { account, limits, caps, rates } = request;
    const now = this.#clock.now();
    const known = this.#find(account, now);
    const open = admittingInstances(known ?? noInstances, limits, now);
    if (known?.limits === undefined && caps === undefined && rates === undefined) {
      // Windows alone can deny it, as often as a client likes: less is made of that.
      const blocked = blockedWindows(open, limits, { need: neededMicro(request), now });
      return blocked.length === 0 ? undefined : { ok: false, blocked, windows: windowStates(open, limits), now };
    }
    const { denial } = judgeReservation(open, known?.limits, request, now);
    return denial && denied(denial, creditsOf(known, limits, request, now), now);
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    for (const request of requests) checkRenew(request);
    const now = this.#clock.now();
    return requests.map((request) => this.#renew(request, now));
  }

  settle(lease: Lease, settlement: Settlement): SettleResult {
    checkSettle(lease, settlement);
    return this.#end("charge", lease, settlement);
  }

  release(lease: Lease, rates: readonly RateUse[] = noUses): SettleResult {
    checkLease(lease);
    checkUses(rates);
    return this.#end("release", lease, { amountMicro: 0, rates });
  }

  async balance(account: string, limits: WindowLimits, of: NamedLimits = noNames): Promise<Balance> {
    checkAccount(account);
    checkLimits(limits);
    checkNamed(of);
    const now = this.#clock.now();
    const known = this.#accounts.get(account)?.withoutExpired(now);
    admittingInstances(known ?? noInstances, limits, now);
    return { ...creditsOf(known, limits, of, now), now };
  }

  async grant(request: GrantRequest): Promise<WindowStates> {
    checkGrant(request);
    const { id, account: accountId, window, amountMicro, limits } = request;
    const now = this.#clock.now();
    const known = this.#find(accountId, now);
    const open = admittingInstances(known ?? noInstances, limits, now);

    const earlier = this.#grants.get(id);
    if (earlier) {
      requireSame(id, earlier, request);
      if (earlier.window !== window) throw new LedgerConflictError(`${id} was granted to another window.`);
      return windowStates(open, limits);
    }

    const instance = open[window];
    if (!instance) throw new LedgerInputError(`${accountId} has no open session to grant credits to.`);
    const bonus = instance.bonus + amountMicro;
    if (!Number.isSafeInteger(bonus)) {
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large on top of earlier grants.`);
    }

    const account = known ?? this.#accounts.add(accountId, now);
    account[window] = instance;
    instance.bonus = bonus;
    closeEmptySession(account);
    this.#grants.set(id, request, now);
    const tags = authorTags(request) ?? noTags;
    const starts = { [window]: instance.start };
    this.#journal.write({ kind: "grant", account: accountId, id, at: now, amountMicro, starts, tags });
    return currentStates(account, limits, now);
  }

  async topUp(request: TopUpRequest): Promise<PrepaidState> {
    checkTopUp(request);
    const { amountMicro, expiresAt = neverExpires } = request;
    const now = this.#clock.now();
    return this.#changePrepaid("topup", request, now, (prepaid) => {
      if (expiresAt <= now) throw new LedgerInputError(`expiresAt must be later than now, not ${expiresAt}.`);
      addTopUp(prepaid, amountMicro, expiresAt);
    });
  }

  async deduct(request: DeductRequest): Promise<PrepaidState> {
    checkDeduct(request);
    const now = this.#clock.now();
    const change = { ...request, amountMicro: -request.amountMicro };
    return this.#changePrepaid("deduction", change, now, (prepaid) => {
      chargePrepaid(prepaid, request.amountMicro, now);
    });
  }

  async claimTopUp(id: string, account: string): Promise<void> {
    const holder = this.#claims.get(id) ?? this.#topUps.get(id)?.account;
    if (holder !== undefined && holder !== account) {
      throw new LedgerConflictError(`${id} was used before with another account.`);
    }
    this.#claims.set(id, account, this.#clock.now());
  }

  #changePrepaid(
    kind: "topup" | "deduction",
    request: TopUpRequest,
    now: number,
    change: (prepaid: Prepaid) => void,
  ): PrepaidState {
    const { id, account: accountId, amountMicro } = request;
    const known = this.#find(accountId, now);
    const earlier = this.#topUps.get(id);
    if (earlier) {
      requireSame(id, earlier, request);
      if (earlier.expiresAt !== request.expiresAt) throw new LedgerConflictError(`${id} was used with another expiry.`);
      return prepaidState(known?.limits?.prepaid ?? newPrepaid(), now);
    }
    const prepaid = known?.limits?.prepaid ?? newPrepaid();
    change(prepaid);
    const account = known ?? this.#accounts.add(accountId, now);
    account.limits ??= newAccountLimits();
    account.limits.prepaid = prepaid;
    this.#topUps.set(id, request, now);
    const tags = authorTags(request) ?? noTags;
    this.#journal.write({ kind, account: accountId, id, at: now, amountMicro, starts: noStarts, tags });
    return prepaidState(prepaid, now);
  }

  async reset(accountId: string, windows: readonly WindowName[]): Promise<void> {
    checkAccount(accountId);
    const now = this.#clock.now();
    const account = this.#find(accountId, now);
    if (!account) return;
    for (const window of windows) {
      const { used, start, end } = account[window];
      if (used === 0 || end <= now) continue;
      account[window].used = 0;
      const id = `reset_${this.#journal.written}`;
      const entry = { account: accountId, id, at: now, amountMicro: -used, starts: { [window]: start }, tags: noTags };
      this.#journal.write({ kind: "reset", ...entry });
    }
    closeEmptySession(account);
  }

  async history(request: HistoryRequest): Promise<HistoryPage> {
    checkHistory(request);
    return this.#journal.read(request);
  }

  async totals(request: TotalsRequest): Promise<readonly PeriodTotal[]> {
    checkTotals(request);
    const sums = new TotalSums(request);
    // Those of this moment: others may come meanwhile.
    const entries = [...this.#journal.all()];
    for (const [place, entry] of entries.entries()) {
      if (place % entriesPerTurn === entriesPerTurn - 1) await nextTurn();
      sums.addEntry(entry.account, entry);
    }
    return sums.list();
  }

  async statement(request: StatementRequest): Promise<AccountStatement> {
    checkHistory(request);
    const now = this.#clock.now();
    const prepaid = this.#find(request.account, now)?.limits?.prepaid;
    const books = new StatementBooks(request, { now, keptFrom: this.#journal.keptFrom, prepaid });
    let cursor: string | undefined;
    do {
      const page = this.#journal.read({ account: request.account, cursor, limit: entriesPerPage });
      for (const entry of page.entries) books.add(entry);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return books.statement();
  }

  async forget(accountId: string): Promise<void> {
    checkAccount(accountId);
    this.#journal.forget(accountId);
    const now = this.#clock.now();
    this.#forgotten.set(accountId, Math.max(this.#forgottenAt(accountId), now), now);
    const account = this.#accounts.get(accountId);
    if (!account) return;
    account.isForgotten = true;
    for (const { id } of account.holds) this.#holds.delete(id);
    this.#accounts.delete(accountId);
  }

  async sweep(): Promise<number> {
    const now = this.#clock.now();
    const before = this.#holds.size;
    for (const id of this.#accounts.due(now)) this.#find(id, now);
    return before - this.#holds.size;
  }

  async close(): Promise<void> {}

  /** The account, after its expired holds have ended. */
  #find(accountId: string, now: number): Account | undefined {
    const known = this.#accounts.get(accountId);
    for (const { hold, paid } of known?.endExpired(now) ?? []) {
      const { id, account, receipt, checkpoint, limits, tags } = hold;
      const expired = { account, receipt, checkpoint, paid, limits, part: hold.part && expiredPart(hold.part), tags };
      this.#holds.delete(id);
      this.#expired.set(id, expired, now);
      this.#writeCheckpoint(id, expired, { amountMicro: checkpoint, prepaidMicro: paid }, now);
    }
    if (known?.limits?.prepaid !== undefined) this.#lapse(known, known.limits.prepaid, now);
    return known;
  }

  /** Drops the prepaid credits that have expired, but for those that an open call may need: it was admitted before. */
  #lapse(account: Account, prepaid: Prepaid, now: number): void {
    const firstEnd = firstExpired(prepaid, now);
    if (firstEnd === undefined) return;
    const until = lapseUntil(account, firstEnd, now);
    if (until < firstEnd) return;
    for (const { left, expiresAt } of lapse(prepaid, until)) {
      const entry = { id: `expiry_${this.#journal.written}`, account: account.id, at: now, amountMicro: -left };
      this.#journal.write({ kind: "expiry", ...entry, starts: noStarts, tags: { [endedAtTag]: expiresAt } });
    }
  }

  /** The result of a reservation that was admitted before. */
  #replay(request: ReserveRequest, now: number): ReserveResult | undefined {
    const { id, account, limits } = request;
    const open = this.#holds.get(id) ?? this.#expired.get(id);
    const receipt = open?.receipt ?? this.#closed.get(id);
    if (receipt === undefined) return undefined;
    requireSame(id, receipt, request);
    const lease = toLease(request, receipt, open?.part);
    return admitted(lease, creditsOf(this.#accounts.get(account), limits, request, now), now, true);
  }

  #renew({ lease, observedMicro, leaseMs, rates, tags }: RenewRequest, now: number): RenewStatus {
    this.#find(lease.account, now);
    const hold = this.#holds.get(lease.id);
    if (hold) {
      requireSame(lease.id, hold.receipt, lease);
      hold.expiresAt = Math.max(hold.expiresAt, now + leaseMs);
      hold.checkpoint = Math.max(hold.checkpoint, observedMicro);
      hold.account.raise(hold, observedMicro);
      if (rates !== undefined) hold.uses = rates;
      if (tags !== undefined) hold.tags = tags;
      return "renewed";
    }
    const expired = this.#expired.get(lease.id);
    if (!expired || this.#isForgotten(expired)) return "closed";
    requireSame(lease.id, expired.receipt, lease);
    const checkpoint = Math.max(expired.checkpoint, observedMicro);
    const rise = checkpoint - expired.checkpoint;
    const paid = this.#charge(expired, rise, now);
    const raised = { ...expired, checkpoint, paid: expired.paid + paid, tags: tags ?? expired.tags };
    this.#writeCheckpoint(lease.id, raised, { amountMicro: rise, prepaidMicro: paid }, now);
    this.#expired.set(lease.id, raised, now);
    return "expired";
  }

  #end(kind: EndKind, lease: Lease, settlement: Settlement): SettleResult {
    const now = this.#clock.now();
    this.#find(lease.account, now);
    const settled = this.#settle(kind, lease, settlement, now);
    const account = this.#accounts.get(lease.account);
    const { status, prepaidMicro } = settled;
    const hasNames = lease.caps !== undefined || lease.rates !== undefined;
    if (account !== undefined && account.limits === undefined && !hasNames && prepaidMicro === undefined) {
      return { status, windows: new LiveStates(account, lease.limits, now) };
    }
    return { ...settled, ...creditsAfter(account, lease, now) };
  }

  #settle(kind: EndKind, lease: Lease, settlement: Settlement, now: number): Settled {
    const { id } = lease;
    const { amountMicro, tags } = settlement;
    const hold = this.#holds.get(id);
    if (hold) {
      requireSame(id, hold.receipt, lease);
      const end = { charge: amountMicro, uses: usesOf(kind, hold.part, settlement) };
      const prepaidMicro = hold.account.end(hold, end, now);
      this.#holds.delete(id);
      this.#close(id, hold.receipt, { kind, amountMicro, prepaidMicro, tags }, now);
      return settledAs("settled", prepaidMicro);
    }

    const expired = this.#expired.get(id);
    if (expired) {
      requireSame(id, expired.receipt, lease);
      if (this.#isForgotten(expired)) return settledAs("duplicate", 0);
      const charge = amountMicro - expired.checkpoint;
      const prepaidMicro = this.#charge(expired, charge, now);
      const paid = expired.paid + prepaidMicro;
      this.#expired.delete(id);
      this.#close(id, expired.receipt, { kind, amountMicro: charge, prepaidMicro, paid, tags }, now);
      return settledAs("late", paid);
    }

    const closed = this.#closed.get(id);
    if (closed) {
      requireSame(id, closed, lease);
      return settledAs("duplicate", closed.prepaidMicro ?? 0);
    }
    return this.#recover(kind, lease, settlement, now);
  }

  /** Settles a lease of which nothing is known. */
  #recover(kind: EndKind, lease: Lease, settlement: Settlement, now: number): Settled {
    const { id, account, amountMicro: reserved, expiresAt, starts, ends, limits } = lease;
    const { amountMicro, mayBeDuplicateSince, tags } = settlement;
    if (isForgottenLease(lease, this.#forgottenAt(account))) return settledAs("duplicate", 0);
    const receipt = { account, amountMicro: reserved, expiresAt, starts, ends };
    // Perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
    const mayBeClosed = mayBeDuplicateSince !== undefined && mayBeDuplicateSince <= this.#closed.forgottenUntil;
    if (mayBeClosed || expiresAt <= this.#expired.forgottenUntil) {
      const entry = { account, id, at: now, amountMicro: 0, starts };
      this.#journal.write({ kind: "unresolved", ...entry, tags: { ...tags, unresolvedMicro: amountMicro } });
      return settledAs("unresolved", 0);
    }
    const prepaidMicro = this.#charge({ receipt, limits, part: partOfLease(lease), paid: 0 }, amountMicro, now);
    this.#close(id, receipt, { kind, amountMicro, prepaidMicro, tags }, now);
    return settledAs("recovered", prepaidMicro);
  }

  /** Whether its account was forgotten after it. */
  #isForgotten({ account, receipt }: ExpiredHold): boolean {
    if (account.isForgotten) return true;
    // The account may have been unused, and dropped, before that.
    const { account: accountId, starts } = receipt;
    return account !== this.#accounts.get(accountId) && starts.session < this.#forgottenAt(accountId);
  }

  #forgottenAt(account: string): number {
    return this.#forgotten.get(account) ?? Number.NEGATIVE_INFINITY;
  }

  #close(id: string, receipt: Receipt, end: EndEntry, now: number): void {
    // The id is not in `#closed` yet: a closed id is not reserved again, and only an id that is in no table is
    // recovered.
    const { kind, amountMicro, prepaidMicro, paid = prepaidMicro, tags = noTags } = end;
    this.#closed.add(id, paid === 0 ? receipt : { ...receipt, prepaidMicro: paid }, now);
    this.#writeCharge({ kind, id, amountMicro, prepaidMicro, tags }, receipt, now);
  }

  /** Records what an expiry, or a renewal after it, has charged. */
  #writeCheckpoint(
    id: string,
    { receipt, tags = noTags }: Pick<ExpiredHold, "receipt" | "tags">,
    amounts: ChargedAmounts,
    now: number,
  ): void {
    const { amountMicro, prepaidMicro } = amounts;
    if (amountMicro === 0) return;
    this.#writeCharge({ kind: "checkpoint", id, amountMicro, prepaidMicro, tags }, receipt, now);
  }

  #writeCharge(entry: ChargeEntry, { account, starts: admitted }: Receipt, now: number): void {
    const { kind, id, amountMicro, prepaidMicro, tags } = entry;
    const starts = startsOfEntry(admitted, amountMicro, prepaidMicro);
    // Written out: copies of objects take more than all else of a settlement.
    if (prepaidMicro === 0) this.#journal.write({ kind, id, tags, account, at: now, amountMicro, starts });
    else this.#journal.write({ kind, id, tags, account, at: now, amountMicro, starts, prepaidMicro });
  }

  /** Charges an amount, or undoes a charge, without a hold. @returns what prepaid credits pay of it. */
  #charge(call: ChargedCall & { receipt: Receipt; paid: Micro }, charge: Micro, now: number): Micro {
    const { receipt, paid } = call;
    // What a correction gives back to windows is over with them. Prepaid credits are not.
    const isNeeded = charge > 0 || (charge < 0 && paid > 0);
    const known = this.#accounts.get(receipt.account);
    const account = known ?? (isNeeded ? this.#accounts.add(receipt.account, now) : undefined);
    return account === undefined ? 0 : endHold(account, call, { held: 0, charge, paid, uses: noUses }, now);
  }
}

/** As of most accounts: without prepaid credits, caps and rates. */
function hasWindowsAlone({ prepaid, caps, rates }: AccountCredits): boolean {
  return prepaid === undefined && caps === undefined && rates === undefined;
}

function admitted(lease: Lease, credits: AccountCredits, now: number, replayed: boolean): ReserveResult {
  return hasWindowsAlone(credits)
    ? { ok: true, lease, windows: credits.windows, now, replayed }
    : { ok: true, lease, ...credits, now, replayed };
}

function denied(denial: Denial, credits: AccountCredits, now: number): DeniedReservation {
  const { blocked, blockedCaps, blockedRates } = denial;
  return hasWindowsAlone(credits) && blockedCaps === undefined && blockedRates === undefined
    ? { ok: false, blocked, windows: credits.windows, now }
    : { ok: false, ...denial, ...credits, now };
}

function usesOf(kind: EndKind, part: HeldLimits | undefined, { rates = noUses }: Settlement): readonly RateUse[] {
  return kind === "release" && part !== undefined ? usesAtRelease(part, rates) : rates;
}
