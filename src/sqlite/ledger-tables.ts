import { randomUUID } from "node:crypto";
import {
  addHold,
  admit,
  admittingInstances,
  canHold,
  closeEmptySession,
  currentStates,
  type Instances,
  isForgottenLease,
  raisedHold,
  windowStates,
  withSession,
} from "../ledger/account-state.js";
import {
  type Balance,
  type GrantRequest,
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
import { judgeReservation } from "../ledger/judge-reservation.js";
import {
  type AccountLimits,
  canHoldIn,
  endHold,
  holdLimits,
  type LeaseEnding,
  type NamedLimits,
  newAccountLimits,
  raiseLimits,
} from "../ledger/limits/account-limits.js";
import {
  expiredPart,
  type HeldLimits,
  partOfLease,
  usesAtExpiry,
  usesAtRelease,
} from "../ledger/limits/held-limits.js";
import { creditsAfter, creditsOf } from "../ledger/limits/limit-states.js";
import { noUses } from "../ledger/limits/no-uses.js";
import { addTopUp, lapse, neverExpires, prepaidState } from "../ledger/limits/prepaid.js";
import type { PrepaidState, TopUpRequest } from "../ledger/prepaid-state.js";
import { type Receipt, requireSame, startsOf, toLease } from "../ledger/receipt.js";
import type { Micro } from "../metering/micro.js";
import { type AccountRow, type AccountTable, newAccount } from "./account-table.js";
import type { ForgottenAccounts } from "./forgotten-accounts.js";
import type { JournalTable } from "./journal-table.js";
import type { LimitNames, LimitTables } from "./limits/limit-tables.js";
import type { ReservationEnd, ReservationTable, Reserved, StoredReservation } from "./reservation-table.js";
import type { Retention } from "./retention.js";

type EndKind = ReservationEnd["kind"];

/** How a reservation ends. */
interface End {
  readonly kind: EndKind;
  readonly settlement: Settlement;
}

/**
 * What the ledger's operations do to the tables, each inside a transaction. Before a refusal is thrown, only expired
 * holds have been written.
 */
export class LedgerTables {
  readonly #accounts: AccountTable;
  readonly #limits: LimitTables;
  readonly #reservations: ReservationTable;
  readonly #journal: JournalTable;
  readonly #retention: Retention;
  readonly #forgotten: ForgottenAccounts;

  constructor(tables: {
    accounts: AccountTable;
    limits: LimitTables;
    reservations: ReservationTable;
    journal: JournalTable;
    retention: Retention;
    forgotten: ForgottenAccounts;
  }) {
    this.#accounts = tables.accounts;
    this.#limits = tables.limits;
    this.#reservations = tables.reservations;
    this.#journal = tables.journal;
    this.#retention = tables.retention;
    this.#forgotten = tables.forgotten;
  }

  reserve(request: ReserveRequest, now: number): ReserveResult {
    const { id, account: accountId, amountMicro, limits } = request;
    const account = this.find(accountId, now);
    const open = admittingInstances(account, limits, now);
    const hasNames = request.caps !== undefined || request.rates !== undefined;
    if (hasNames) this.#limits.load(account, request);

    const earlier = this.#reservations.get(id);
    if (earlier) {
      requireSame(id, earlier.receipt, { account: accountId, amountMicro });
      const lease = toLease(request, earlier.receipt, earlier.part);
      return { ok: true, lease, ...creditsOf(account, limits, request, now), now, replayed: true };
    }

    const { denial, isPrepaid, named } = judgeReservation(open, account.limits, request, now);
    if (denial) return { ok: false, ...denial, ...creditsOf(account, limits, request, now), now };
    const isCountable = canHold(open, amountMicro) && canHoldIn(account.limits, named, amountMicro);
    if (!isCountable) {
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large to be held on top of the rest.`);
    }

    const admitted = withSession(open, limits, now);
    let part: HeldLimits | undefined;
    if (isPrepaid || hasNames) {
      account.limits ??= newAccountLimits();
      part = holdLimits(account.limits, named, request, isPrepaid ? now : undefined);
      this.#limits.put(accountId, account.limits, part);
    }
    const receipt = receiptOf(request, admitted, now);
    if (!isPrepaid) {
      admit(account, admitted, amountMicro);
      addHold(account, receipt, amountMicro);
    }
    account.nextExpiry = Math.min(account.nextExpiry ?? receipt.expiresAt, receipt.expiresAt);
    this.#reservations.hold({ id, receipt, part });
    this.#accounts.put(account);
    const lease = toLease(request, receipt, part);
    return { ok: true, lease, ...creditsOf(account, limits, request, now), now, replayed: false };
  }

  renew({ lease, observedMicro, leaseMs, rates }: RenewRequest, now: number): RenewStatus {
    const { id } = lease;
    const account = this.find(lease.account, now);
    const reservation = this.#reservations.get(id);
    if (!reservation || reservation.state === "ended") return "closed";
    const { receipt, held, part } = reservation;
    requireSame(id, receipt, lease);
    const checkpoint = Math.max(reservation.checkpoint, observedMicro);

    if (reservation.state === "hold") {
      const raised = raisedHold(account, held, observedMicro);
      this.#reservations.renew(id, raised, checkpoint, Math.max(reservation.expiresAt, now + leaseMs));
      if (rates !== undefined && part !== undefined) this.#reservations.observe(reservation, rates);
      if (raised !== held) this.#raise(account, reservation, raised - held);
      return "renewed";
    }

    const rise = checkpoint - reservation.checkpoint;
    this.#reservations.raiseCheckpoint(id, checkpoint, now);
    if (rise === 0) return "expired";
    this.#endHold(account, reservation, { held: 0, charge: rise, uses: noUses }, now);
    this.#writeCheckpoint(account, reservation, rise, now);
    this.#accounts.put(account);
    return "expired";
  }

  end(kind: EndKind, lease: Lease, settlement: Settlement, now: number): SettleResult {
    const account = this.find(lease.account, now);
    const status = this.#settle(account, lease, { kind, settlement }, now);
    if (status !== "duplicate") this.#accounts.put(account);
    if (lease.caps !== undefined || lease.rates !== undefined) this.#limits.load(account, lease);
    return { status, ...creditsAfter(account, lease, now) };
  }

  /** Shows expired holds as ended, but writes nothing. */
  balance(accountId: string, limits: WindowLimits, of: NamedLimits, now: number): Balance {
    const account = this.#accounts.get(accountId) ?? newAccount(accountId);
    // Also where it names none: an expiry can overdraw prepaid credits of which nothing was left.
    this.#limits.load(account, of);
    if (account.nextExpiry !== null && account.nextExpiry <= now) {
      for (const hold of this.#reservations.due(accountId, now)) endHold(account, hold, expiryOf(hold), now);
    }
    admittingInstances(account, limits, now);
    return { ...creditsOf(account, limits, of, now), now };
  }

  grant({ id, account: accountId, window, amountMicro, limits, note }: GrantRequest, now: number): WindowStates {
    const account = this.find(accountId, now);
    const open = admittingInstances(account, limits, now);
    const earlier = this.#journal.grant(id);
    if (earlier) {
      requireSame(id, earlier, { account: accountId, amountMicro });
      if (earlier.window !== window) throw new LedgerConflictError(`${id} was granted to another window.`);
      return windowStates(open, limits);
    }

    const instance = open[window];
    if (!instance) throw new LedgerInputError(`${accountId} has no open session to grant credits to.`);
    const bonus = instance.bonus + amountMicro;
    if (!Number.isSafeInteger(bonus)) {
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large on top of earlier grants.`);
    }

    account[window] = instance;
    instance.bonus = bonus;
    closeEmptySession(account);
    const tags = note === undefined ? undefined : { note };
    this.#journal.write(account, {
      id,
      kind: "grant",
      at: now,
      amountMicro,
      starts: { [window]: instance.start },
      tags,
    });
    this.#accounts.put(account);
    return currentStates(account, limits, now);
  }

  reset(accountId: string, windows: readonly WindowName[], now: number): void {
    const account = this.find(accountId, now);
    for (const window of windows) {
      const { used, start, end } = account[window];
      if (used === 0 || end <= now) continue;
      account[window].used = 0;
      const entry = { id: `reset_${randomUUID()}`, at: now, amountMicro: -used, starts: { [window]: start } };
      this.#journal.write(account, { kind: "reset", ...entry });
    }
    closeEmptySession(account);
    if (account.sequence > 0) this.#accounts.put(account);
  }

  topUp({ id, account: accountId, amountMicro, expiresAt, note }: TopUpRequest, now: number): PrepaidState {
    const account = this.find(accountId, now);
    const earlier = this.#journal.topUp(id);
    if (earlier) {
      requireSame(id, earlier, { account: accountId, amountMicro });
      if (earlier.expiresAt !== expiresAt) throw new LedgerConflictError(`${id} was used with another expiry.`);
      return prepaidState((account.limits ?? newAccountLimits()).prepaid, now);
    }
    if (expiresAt !== undefined && expiresAt <= now) {
      throw new LedgerInputError(`expiresAt must be later than now, not ${expiresAt}.`);
    }
    const limits = account.limits ?? newAccountLimits();
    addTopUp(limits.prepaid, amountMicro, expiresAt ?? neverExpires);
    this.#limits.putPrepaid(accountId, limits);
    const tags = note === undefined ? undefined : { note };
    this.#journal.write(account, { id, kind: "topup", at: now, amountMicro, starts: {}, tags, expiresAt });
    this.#accounts.put(account);
    return prepaidState(limits.prepaid, now);
  }

  /**
   * The account, after its expired holds have ended and its expired prepaid credits have lapsed. An unknown account is
   * stored only with its first change.
   */
  find(accountId: string, now: number): AccountRow {
    const account = this.#accounts.get(accountId);
    if (!account) return newAccount(accountId);
    const hasExpired = account.nextExpiry !== null && account.nextExpiry <= now;
    if (hasExpired) this.#expireHolds(account, now);
    const hasLapsed = account.limits !== undefined && this.#lapse(account, account.limits, now);
    if (hasExpired || hasLapsed) this.#accounts.put(account);
    return account;
  }

  #expireHolds(account: AccountRow, now: number): void {
    for (const hold of this.#reservations.due(account.id, now)) {
      this.#endHold(account, hold, expiryOf(hold), now);
      if (hold.checkpoint === 0) continue;
      this.#writeCheckpoint(account, hold, hold.checkpoint, now);
    }
    this.#reservations.expireDue(account.id, now);
    account.nextExpiry = this.#reservations.nextExpiry(account.id);
  }

  #lapse(account: AccountRow, limits: AccountLimits, now: number): boolean {
    const lapsed = lapse(limits.prepaid, now);
    if (lapsed === 0) return false;
    this.#limits.putPrepaid(account.id, limits);
    const id = `expiry_${randomUUID()}`;
    this.#journal.write(account, { id, kind: "expiry", at: now, amountMicro: -lapsed, starts: {} });
    return true;
  }

  /** Raises a hold in all that it is part of. */
  #raise(account: AccountRow, { receipt, part }: Reserved, rise: Micro): void {
    if (part?.prepaidAt === undefined) {
      addHold(account, receipt, rise);
      this.#accounts.put(account);
    }
    if (part === undefined) return;
    const limits = this.#limits.load(account, { caps: part.caps });
    raiseLimits(limits, part, rise);
    this.#limits.put(account.id, limits, expiredPart(part));
  }

  /** Replaces a hold by its charge in all that it is part of. The account's row is stored by the caller. */
  #endHold(account: AccountRow, reserved: Reserved, end: LeaseEnding, now: number): void {
    const { part } = reserved;
    const limits = part && this.#limits.load(account, namesOf(part));
    endHold(account, reserved, end, now);
    if (part && limits) this.#limits.put(account.id, limits, part);
  }

  #writeCheckpoint(account: AccountRow, reserved: Reserved, amountMicro: Micro, now: number): void {
    const { id } = reserved;
    this.#journal.write(account, { id, kind: "checkpoint", at: now, amountMicro, starts: startsOf(reserved) });
  }

  #settle(account: AccountRow, lease: Lease, end: End, now: number): SettleStatus {
    const { id } = lease;
    const reservation = this.#reservations.get(id);
    if (!reservation) return this.#recover(account, lease, end, now);
    const { kind, settlement } = end;
    const { receipt, state, part } = reservation;
    requireSame(id, receipt, lease);
    if (state === "ended") return "duplicate";

    // An expired hold is given back already, and its checkpoint charged.
    const [held, charged] = state === "hold" ? [reservation.held, 0] : [0, reservation.checkpoint];
    const charge = settlement.amountMicro - charged;
    const { rates = noUses, tags } = settlement;
    const uses = kind === "release" && part !== undefined ? usesAtRelease(part, rates) : rates;
    this.#endHold(account, reservation, { held, charge, uses }, now);
    this.#reservations.end(reservation, { kind, at: now, sequence: ++account.sequence, amount: charge, tags });
    return state === "hold" ? "settled" : "late";
  }

  #recover(account: AccountRow, lease: Lease, { kind, settlement }: End, now: number): SettleStatus {
    const { amountMicro, mayBeDuplicateSince = Number.POSITIVE_INFINITY, tags } = settlement;
    const { id, account: accountId, amountMicro: reserved, expiresAt, starts, ends } = lease;
    if (isForgottenLease(lease, this.#forgotten.at(accountId))) return "duplicate";
    const receipt: Receipt = { account: accountId, amountMicro: reserved, expiresAt, starts, ends };
    const unknown: Reserved = { id, receipt, part: partOfLease(lease) };
    // Unknown, but perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
    if (Math.min(mayBeDuplicateSince, expiresAt) < this.#retention.forgottenUntil) {
      const entry = { id, kind: "unresolved", at: now, amountMicro: 0, starts: startsOf(unknown) } as const;
      this.#journal.write(account, { ...entry, tags: { ...tags, unresolvedMicro: amountMicro } });
      return "unresolved";
    }
    this.#endHold(account, unknown, { held: 0, charge: amountMicro, uses: noUses }, now);
    const sequence = ++account.sequence;
    this.#reservations.insertEnded(unknown, { kind, at: now, sequence, amount: amountMicro, tags });
    return "recovered";
  }
}

function receiptOf(
  { account, amountMicro, leaseMs }: ReserveRequest,
  { session, week, month }: Instances,
  now: number,
): Receipt {
  return {
    account,
    amountMicro,
    expiresAt: now + leaseMs,
    starts: { session: session.start, week: week.start, month: month.start },
    ends: { session: session.end, week: week.end, month: month.end },
  };
}

/** What an expiry does to a hold. */
function expiryOf({ held, checkpoint, part, uses }: StoredReservation): LeaseEnding {
  return { held, charge: checkpoint, uses: part === undefined ? noUses : usesAtExpiry(part, uses) };
}

function namesOf({ caps, takes }: HeldLimits): LimitNames {
  return { caps, rates: takes };
}
