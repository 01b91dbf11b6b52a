import { runtime } from "#runtime";
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
  type WindowLimits,
  type WindowName,
  type WindowStates,
} from "../ledger/credit-ledger.js";
import { authorTags } from "../ledger/journal/author-tags.js";
import { judgeReservation, noPrepaidHold } from "../ledger/judge-reservation.js";
import {
  canHoldIn,
  endHold,
  holdLimits,
  type NamedLimits,
  newAccountLimits,
  raiseLimits,
} from "../ledger/limits/account-limits.js";
import { expiredPart, type HeldLimits, partOfLease, usesAtRelease } from "../ledger/limits/held-limits.js";
import { creditsAfter, creditsOf } from "../ledger/limits/limit-states.js";
import { noUses } from "../ledger/limits/no-uses.js";
import { type Receipt, requireSame, toLease } from "../ledger/receipt.js";
import { type Settled, settledAs } from "../ledger/settled-as.js";
import type { Micro } from "../metering/micro.js";
import { type AccountRow, type AccountTable, newAccount } from "./account-table.js";
import { type AccountBook, type AccountTables, expiryOf } from "./booking/account-book.js";
import type { ForgottenAccounts } from "./forgotten-accounts.js";
import type { JournalTable } from "./journal-table.js";
import type { LimitTables } from "./limits/limit-tables.js";
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
  readonly #book: AccountBook;

  constructor(
    tables: AccountTables & { readonly retention: Retention; readonly forgotten: ForgottenAccounts },
    book: AccountBook,
  ) {
    this.#book = book;
    this.#accounts = tables.accounts;
    this.#limits = tables.limits;
    this.#reservations = tables.reservations;
    this.#journal = tables.journal;
    this.#retention = tables.retention;
    this.#forgotten = tables.forgotten;
  }

  reserve(request: ReserveRequest, now: number): ReserveResult {
    const { id, account: accountId, amountMicro, limits } = request;
    const account = this.#book.find(accountId, now);
    const open = admittingInstances(account, limits, now);
    const hasNames = request.caps !== undefined || request.rates !== undefined;
    if (hasNames) this.#limits.load(account, request);

    const earlier = this.#reservations.get(id);
    if (earlier) {
      requireSame(id, earlier.receipt, { account: accountId, amountMicro });
      const lease = toLease(request, earlier.receipt, earlier.part);
      return { ok: true, lease, ...creditsOf(account, limits, request, now), now, replayed: true };
    }

    const { denial, prepaid, named } = judgeReservation(open, account.limits, request, now);
    if (denial) return { ok: false, ...denial, ...creditsOf(account, limits, request, now), now };
    const hasPart = prepaid !== undefined || hasNames;
    if (!canHold(open, amountMicro) || (hasPart && !canHoldIn(account.limits, named, amountMicro))) {
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large to be held on top of the rest.`);
    }

    const admitted = withSession(open, limits, now);
    const receipt = receiptOf(request, admitted, now);
    let part: HeldLimits | undefined;
    if (hasPart) {
      account.limits ??= newAccountLimits();
      part = holdLimits(account.limits, named, request, prepaid ?? noPrepaidHold);
      this.#limits.put(accountId, account.limits, part);
    }
    const ofPlan = amountMicro - (prepaid?.prepaidMicro ?? 0);
    const isAllPrepaid = amountMicro > 0 && ofPlan === 0;
    if (!isAllPrepaid) {
      admit(account, admitted, ofPlan);
      addHold(account, receipt, ofPlan);
    }
    account.nextExpiry = Math.min(account.nextExpiry ?? receipt.expiresAt, receipt.expiresAt);
    this.#reservations.hold({ id, receipt, limits, part });
    this.#accounts.put(account);
    const lease = toLease(request, receipt, part);
    return { ok: true, lease, ...creditsOf(account, limits, request, now), now, replayed: false };
  }

  renew({ lease, observedMicro, leaseMs, rates, tags }: RenewRequest, now: number): RenewStatus {
    const { id } = lease;
    const account = this.#book.find(lease.account, now);
    const reservation = this.#reservations.get(id);
    if (!reservation || reservation.state === "ended") return "closed";
    const { receipt, held, part } = reservation;
    requireSame(id, receipt, lease);
    const checkpoint = Math.max(reservation.checkpoint, observedMicro);

    if (reservation.state === "hold") {
      const raised = raisedHold(account, held, observedMicro);
      const expiresAt = Math.max(reservation.expiresAt, now + leaseMs);
      this.#reservations.renew(id, { held: raised, checkpoint, expiresAt, tags });
      if (rates !== undefined && part !== undefined) this.#reservations.observe(reservation, rates);
      if (raised !== held) this.#raise(account, reservation, raised - held);
      return "renewed";
    }

    const known = tags === undefined ? reservation : { ...reservation, tags };
    this.#raiseCheckpoint(account, known, checkpoint, now);
    return "expired";
  }

  end(kind: EndKind, lease: Lease, settlement: Settlement, now: number): SettleResult {
    const account = this.#book.find(lease.account, now);
    const settled = this.#settle(account, lease, { kind, settlement }, now);
    if (settled.status !== "duplicate") this.#accounts.put(account);
    if (lease.caps !== undefined || lease.rates !== undefined) this.#limits.load(account, lease);
    return { ...settled, ...creditsAfter(account, lease, now) };
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

  grant({ id, account: accountId, window, amountMicro, limits, by, note }: GrantRequest, now: number): WindowStates {
    const account = this.#book.find(accountId, now);
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
    const tags = authorTags({ by, note });
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
    const account = this.#book.find(accountId, now);
    for (const window of windows) {
      const { used, start, end } = account[window];
      if (used === 0 || end <= now) continue;
      account[window].used = 0;
      const entry = { id: `reset_${runtime.randomUUID()}`, at: now, amountMicro: -used, starts: { [window]: start } };
      this.#journal.write(account, { kind: "reset", ...entry });
    }
    closeEmptySession(account);
    if (account.sequence > 0) this.#accounts.put(account);
  }

  /** Raises a hold in all that it is part of. */
  #raise(account: AccountRow, { receipt, part }: Reserved, rise: Micro): void {
    if (part === undefined || part.prepaidMicro === 0) addHold(account, receipt, rise);
    if (part !== undefined) {
      const limits = this.#limits.load(account, { caps: part.caps });
      raiseLimits(limits, part, rise);
      this.#limits.put(account.id, limits, expiredPart(part));
    }
    this.#accounts.put(account);
  }

  /** Charges what a renewal reports after the expiry beyond what is charged by then. */
  #raiseCheckpoint(account: AccountRow, reservation: StoredReservation, checkpoint: Micro, now: number): void {
    const { id, paid } = reservation;
    const rise = checkpoint - reservation.checkpoint;
    const ending = { held: 0, charge: rise, paid, uses: noUses };
    const prepaidMicro = rise === 0 ? 0 : this.#book.endHold(account, reservation, ending, now);
    this.#reservations.raiseCheckpoint(id, { checkpoint, paid: paid + prepaidMicro }, now);
    if (rise === 0) return;
    this.#book.writeCheckpoint(account, reservation, { amountMicro: rise, prepaidMicro }, now);
    this.#accounts.put(account);
  }

  #settle(account: AccountRow, lease: Lease, end: End, now: number): Settled {
    const { id } = lease;
    const reservation = this.#reservations.get(id);
    if (!reservation) return this.#recover(account, lease, end, now);
    const { kind, settlement } = end;
    const { receipt, state, part } = reservation;
    requireSame(id, receipt, lease);
    if (state === "ended") return settledAs("duplicate", reservation.paid);

    // An expired hold is given back already, and its checkpoint charged.
    const [held, charged] = state === "hold" ? [reservation.held, 0] : [0, reservation.checkpoint];
    const amount = settlement.amountMicro - charged;
    const { rates = noUses, tags } = settlement;
    const uses = kind === "release" && part !== undefined ? usesAtRelease(part, rates) : rates;
    const ending = { held, charge: amount, paid: reservation.paid, uses };
    const prepaid = this.#book.endHold(account, reservation, ending, now);
    const paid = reservation.paid + prepaid;
    this.#reservations.end(reservation, { kind, at: now, sequence: ++account.sequence, amount, prepaid, paid, tags });
    return settledAs(state === "hold" ? "settled" : "late", paid);
  }

  #recover(account: AccountRow, lease: Lease, { kind, settlement }: End, now: number): Settled {
    const { amountMicro: amount, mayBeDuplicateSince = Number.POSITIVE_INFINITY, tags } = settlement;
    const { id, account: accountId, amountMicro, expiresAt, starts, ends, limits } = lease;
    if (isForgottenLease(lease, this.#forgotten.at(accountId))) return settledAs("duplicate", 0);
    // Unknown, but perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
    if (Math.min(mayBeDuplicateSince, expiresAt) < this.#retention.forgottenUntil) {
      const entry = { id, kind: "unresolved", at: now, amountMicro: 0, starts } as const;
      this.#journal.write(account, { ...entry, tags: { ...tags, unresolvedMicro: amount } });
      return settledAs("unresolved", 0);
    }
    const receipt: Receipt = { account: accountId, amountMicro, expiresAt, starts, ends };
    const unknown: Reserved = { id, receipt, limits, part: partOfLease(lease) };
    const ending = { held: 0, charge: amount, paid: 0, uses: noUses };
    const prepaid = this.#book.endHold(account, unknown, ending, now);
    const sequence = ++account.sequence;
    this.#reservations.insertEnded(unknown, { kind, at: now, sequence, amount, prepaid, paid: prepaid, tags });
    return settledAs("recovered", prepaid);
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
