import {
  addCharge,
  admittingInstances,
  blockedWindows,
  canHold,
  closeEmptySession,
  currentStates,
  isForgottenLease,
  noInstances,
  windowStates,
} from "../ledger/account-state.js";
import { type Clock, systemClock } from "../ledger/clock.js";
import {
  type Blocked,
  type CreditLedger,
  type EntryTags,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type Lease,
  LedgerConflictError,
  LedgerInputError,
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
} from "../ledger/credit-ledger.js";
import {
  checkAccount,
  checkGrant,
  checkHistory,
  checkLease,
  checkLimits,
  checkRenew,
  checkReserve,
  checkSettle,
} from "../ledger/ledger-input.js";
import { type Receipt, requireSame, toLease } from "../ledger/receipt.js";
import type { Micro } from "../metering/micro.js";
import type { Account, Hold } from "./account.js";
import { AccountMap } from "./account-map.js";
import { MemoryJournal, noTags } from "./memory-journal.js";
import { ReceiptTable } from "./receipt-table.js";
import { RotatingMap } from "./rotating-map.js";

/** Options of {@link memoryCreditLedger}. */
export interface MemoryCreditLedgerOptions {
  /** Default: the process's clock. */
  clock?: Clock | undefined;
  /**
   * How many accounts may have open windows at once. New accounts beyond it are refused with
   * {@link LedgerUnavailableError}, since forgetting one would refill it. Default: 1,000,000.
   */
  maxAccounts?: number | undefined;
  /** How many entries of the journal are kept, the newest of all accounts; 0: none, and no `history`. Default: 10,000. */
  historyEntries?: number | undefined;
}

/**
 * Keeps credits in the memory of this process: exact within it, and empty after a restart.
 *
 * Every operation runs to its end synchronously, and there are no timers: the next operation ends what has expired. The
 * ledger recognises the repetition of a settlement or reservation for at least a minute after its end, and of a grant
 * for 31 days. An expired hold can be settled for at least an hour.
 *
 * @throws RangeError when `maxAccounts` is not a whole number of at least 1, or `historyEntries` not one of at least 0;
 * TypeError on an unknown option.
 */
export function memoryCreditLedger(options: MemoryCreditLedgerOptions = {}): CreditLedger {
  const { clock = systemClock, maxAccounts = 1_000_000, historyEntries = 10_000, ...unknown } = options;
  for (const name of Object.keys(unknown)) throw new TypeError(`memoryCreditLedger: there is no option "${name}".`);
  if (!Number.isSafeInteger(maxAccounts) || maxAccounts < 1) {
    throw new RangeError(`maxAccounts must be a whole number of at least 1, not ${maxAccounts}.`);
  }
  if (!Number.isSafeInteger(historyEntries) || historyEntries < 0) {
    throw new RangeError(`historyEntries must be a whole number of at least 0, not ${historyEntries}.`);
  }
  const ledger = new MemoryCreditLedger(clock, maxAccounts, historyEntries);
  // A plain object, so that a host can replace methods: `{ ...ledger, settle }`. The gateway then guards the copy.
  const methods: CreditLedger = {
    reserve: (request) => ledger.reserve(request),
    renew: (requests) => ledger.renew(requests),
    settle: (lease, settlement) => ledger.settle(lease, settlement),
    release: (lease) => ledger.release(lease),
    balance: (account, limits) => ledger.balance(account, limits),
    grant: (request) => ledger.grant(request),
    reset: (account, windows) => ledger.reset(account, windows),
    ...(historyEntries > 0 && { history: (request) => ledger.history(request) }),
    forget: (account) => ledger.forget(account),
    close: () => ledger.close(),
  };
  return Object.defineProperty(methods, "inProcess", { value: true, enumerable: false });
}

const closedMemoryMs = 60_000;
const expiredMemoryMs = 3_600_000;
const forgottenMemoryMs = 86_400_000;
const grantMemoryMs = 31 * 86_400_000;
const inspectedPerReserve = 2;

type EndKind = "charge" | "release";

/** What the journal records of a reservation's end. */
interface EndEntry {
  readonly kind: EndKind;
  readonly amountMicro: Micro;
  readonly tags: EntryTags | undefined;
}

const nothing: Settlement = Object.freeze({ amountMicro: 0 });

/** A hold that expired without a settlement. */
interface ExpiredHold {
  readonly account: Account;
  readonly receipt: Receipt;
  /** What its expiry and later renewals have charged. */
  readonly checkpoint: Micro;
}

class MemoryCreditLedger {
  readonly #clock: Clock;
  readonly #accounts: AccountMap;
  readonly #holds = new Map<string, Hold>();
  readonly #expired = new RotatingMap<ExpiredHold>(expiredMemoryMs);
  readonly #closed = new RotatingMap<Receipt>(closedMemoryMs, (expected) => new ReceiptTable(expected));
  /** When accounts were forgotten. */
  readonly #forgotten = new RotatingMap<number>(forgottenMemoryMs);
  readonly #grants = new RotatingMap<GrantRequest>(grantMemoryMs);
  readonly #journal: MemoryJournal;

  constructor(clock: Clock, maxAccounts: number, historyEntries: number) {
    this.#clock = clock;
    this.#accounts = new AccountMap(maxAccounts);
    this.#journal = new MemoryJournal(historyEntries);
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    checkReserve(request);
    const { id, account: accountId, amountMicro, limits, leaseMs, strict = false } = request;
    const now = this.#clock.now();
    this.#accounts.inspect(inspectedPerReserve, now);
    const known = this.#find(accountId, now);
    const open = admittingInstances(known ?? noInstances, limits, now);

    const earlier = (this.#holds.get(id) ?? this.#expired.get(id))?.receipt ?? this.#closed.get(id);
    if (earlier) {
      requireSame(id, earlier, request);
      return {
        ok: true,
        lease: toLease(id, earlier, limits),
        windows: windowStates(open, limits),
        now,
        replayed: true,
      };
    }

    const blocked = blockedWindows(open, limits, strict ? Math.max(1, amountMicro) : 1, now);
    if (isNotEmpty(blocked)) return { ok: false, blocked, windows: windowStates(open, limits), now };
    if (!canHold(open, amountMicro)) {
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large to be held on top of the rest.`);
    }

    const account = known ?? this.#accounts.add(accountId, now);
    const { starts, ends } = account.admit(open, limits, amountMicro, now);
    const receipt = { account: accountId, amountMicro, expiresAt: now + leaseMs, starts, ends };
    this.#holds.set(id, account.hold(id, receipt));
    return {
      ok: true,
      lease: toLease(id, receipt, limits),
      windows: currentStates(account, limits, now),
      now,
      replayed: false,
    };
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    for (const request of requests) checkRenew(request);
    const now = this.#clock.now();
    return requests.map((request) => this.#renew(request, now));
  }

  async settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
    checkSettle(lease, settlement);
    return this.#end("charge", lease, settlement);
  }

  async release(lease: Lease): Promise<SettleResult> {
    checkLease(lease);
    return this.#end("release", lease, nothing);
  }

  async balance(account: string, limits: WindowLimits): Promise<{ windows: WindowStates; now: number }> {
    checkAccount(account);
    checkLimits(limits);
    const now = this.#clock.now();
    const instances = this.#accounts.get(account)?.withoutExpired(now) ?? noInstances;
    return { windows: windowStates(admittingInstances(instances, limits, now), limits), now };
  }

  async grant(request: GrantRequest): Promise<WindowStates> {
    checkGrant(request);
    const { id, account: accountId, window, amountMicro, limits, note } = request;
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
    const tags = note === undefined ? noTags : { note };
    const starts = { [window]: instance.start };
    this.#journal.write({ kind: "grant", account: accountId, id, at: now, amountMicro, starts, tags });
    return currentStates(account, limits, now);
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

  async close(): Promise<void> {}

  /** The account, after its expired holds have ended. */
  #find(accountId: string, now: number): Account | undefined {
    const known = this.#accounts.get(accountId);
    for (const { id, account, receipt, checkpoint } of known?.endExpired(now) ?? []) {
      this.#holds.delete(id);
      this.#expired.set(id, { account, receipt, checkpoint }, now);
      this.#writeCheckpoint(id, receipt, checkpoint, now);
    }
    return known;
  }

  #renew({ lease, observedMicro, leaseMs }: RenewRequest, now: number): RenewStatus {
    this.#find(lease.account, now);
    const hold = this.#holds.get(lease.id);
    if (hold) {
      requireSame(lease.id, hold.receipt, lease);
      hold.expiresAt = Math.max(hold.expiresAt, now + leaseMs);
      hold.checkpoint = Math.max(hold.checkpoint, observedMicro);
      hold.account.raise(hold, observedMicro);
      return "renewed";
    }
    const expired = this.#expired.get(lease.id);
    if (!expired || this.#isForgotten(expired)) return "closed";
    requireSame(lease.id, expired.receipt, lease);
    const { account, receipt } = expired;
    const checkpoint = Math.max(expired.checkpoint, observedMicro);
    const rise = checkpoint - expired.checkpoint;
    this.#charge(receipt, rise, now);
    this.#writeCheckpoint(lease.id, receipt, rise, now);
    this.#expired.set(lease.id, { account, receipt, checkpoint }, now);
    return "expired";
  }

  #end(kind: EndKind, lease: Lease, settlement: Settlement): SettleResult {
    const now = this.#clock.now();
    this.#find(lease.account, now);
    const status = this.#settle(kind, lease, settlement, now);
    return { status, windows: currentStates(this.#accounts.get(lease.account) ?? noInstances, lease.limits, now) };
  }

  #settle(
    kind: EndKind,
    lease: Lease,
    { amountMicro, mayBeDuplicateSince, tags }: Settlement,
    now: number,
  ): SettleStatus {
    const { id } = lease;
    const hold = this.#holds.get(id);
    if (hold) {
      const { receipt } = hold;
      requireSame(id, receipt, lease);
      hold.account.end(hold, amountMicro, now);
      this.#holds.delete(id);
      this.#close(id, receipt, { kind, amountMicro, tags }, now);
      return "settled";
    }

    const expired = this.#expired.get(id);
    if (expired) {
      const { receipt, checkpoint } = expired;
      requireSame(id, receipt, lease);
      if (this.#isForgotten(expired)) return "duplicate";
      this.#charge(receipt, amountMicro - checkpoint, now);
      this.#expired.delete(id);
      this.#close(id, receipt, { kind, amountMicro: amountMicro - checkpoint, tags }, now);
      return "late";
    }

    const closed = this.#closed.get(id);
    if (closed) {
      requireSame(id, closed, lease);
      return "duplicate";
    }

    const { account, amountMicro: reserved, expiresAt, starts, ends } = lease;
    if (isForgottenLease(lease, this.#forgottenAt(account))) return "duplicate";
    // Unknown, but perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
    const mayBeClosed = mayBeDuplicateSince !== undefined && mayBeDuplicateSince <= this.#closed.forgottenUntil;
    if (mayBeClosed || expiresAt <= this.#expired.forgottenUntil) {
      const unresolved = { ...tags, unresolvedMicro: amountMicro };
      this.#journal.write({ kind: "unresolved", account, id, at: now, amountMicro: 0, starts, tags: unresolved });
      return "unresolved";
    }
    this.#charge(lease, amountMicro, now);
    const receipt = { account, amountMicro: reserved, expiresAt, starts, ends };
    this.#close(id, receipt, { kind, amountMicro, tags }, now);
    return "recovered";
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

  #close(id: string, receipt: Receipt, { kind, amountMicro, tags = noTags }: EndEntry, now: number): void {
    // The id is not in `#closed` yet: a closed id is not reserved again, and only an id that is in no table is
    // recovered.
    this.#closed.add(id, receipt, now);
    const { account, starts } = receipt;
    this.#journal.write({ kind, account, id, at: now, amountMicro, starts, tags });
  }

  /** Records what an expiry, or a renewal after it, has charged. */
  #writeCheckpoint(id: string, { account, starts }: Receipt, amountMicro: Micro, now: number): void {
    if (amountMicro === 0) return;
    this.#journal.write({ kind: "checkpoint", account, id, at: now, amountMicro, starts, tags: noTags });
  }

  /** Charges an amount, or undoes a charge, without a hold. */
  #charge(receipt: Receipt, amount: Micro, now: number): void {
    const { account: accountId } = receipt;
    const account = this.#accounts.get(accountId) ?? (amount > 0 ? this.#accounts.add(accountId, now) : undefined);
    if (account) addCharge(account, receipt, { held: 0, charge: amount }, now);
  }
}

function isNotEmpty(blocked: readonly Blocked[]): blocked is readonly [Blocked, ...Blocked[]] {
  return blocked.length > 0;
}
