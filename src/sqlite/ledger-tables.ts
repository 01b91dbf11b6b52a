import { randomUUID } from "node:crypto";
import {
  addCharge,
  addHold,
  admit,
  admittingInstances,
  blockedWindows,
  canHold,
  closeEmptySession,
  currentStates,
  isForgottenLease,
  raisedHold,
  windowStates,
  withSession,
} from "../ledger/account-state.js";
import {
  type Blocked,
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
import { type Receipt, requireSame, toLease } from "../ledger/receipt.js";
import { type AccountRow, type AccountTable, newAccount } from "./account-table.js";
import type { ForgottenAccounts } from "./forgotten-accounts.js";
import type { JournalTable } from "./journal-table.js";
import type { ReservationEnd, ReservationTable } from "./reservation-table.js";
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
  readonly #reservations: ReservationTable;
  readonly #journal: JournalTable;
  readonly #retention: Retention;
  readonly #forgotten: ForgottenAccounts;

  constructor(tables: {
    accounts: AccountTable;
    reservations: ReservationTable;
    journal: JournalTable;
    retention: Retention;
    forgotten: ForgottenAccounts;
  }) {
    this.#accounts = tables.accounts;
    this.#reservations = tables.reservations;
    this.#journal = tables.journal;
    this.#retention = tables.retention;
    this.#forgotten = tables.forgotten;
  }

  reserve(
    { id, account: accountId, amountMicro, limits, leaseMs, strict = false }: ReserveRequest,
    now: number,
  ): ReserveResult {
    const account = this.find(accountId, now);
    const open = admittingInstances(account, limits, now);

    const earlier = this.#reservations.get(id)?.receipt;
    if (earlier) {
      requireSame(id, earlier, { account: accountId, amountMicro });
      const windows = windowStates(open, limits);
      return { ok: true, lease: toLease({ id, limits }, earlier), windows, now, replayed: true };
    }

    const blocked = blockedWindows(open, limits, strict ? Math.max(1, amountMicro) : 1, now);
    if (isNotEmpty(blocked)) return { ok: false, blocked, windows: windowStates(open, limits), now };
    if (!canHold(open, amountMicro)) {
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large to be held on top of the rest.`);
    }

    const admitted = withSession(open, limits, now);
    admit(account, admitted, amountMicro);
    const { session, week, month } = admitted;
    const receipt: Receipt = {
      account: accountId,
      amountMicro,
      expiresAt: now + leaseMs,
      starts: { session: session.start, week: week.start, month: month.start },
      ends: { session: session.end, week: week.end, month: month.end },
    };
    addHold(account, receipt, amountMicro);
    account.nextExpiry = Math.min(account.nextExpiry ?? receipt.expiresAt, receipt.expiresAt);
    this.#reservations.hold(id, receipt);
    this.#accounts.put(account);
    const windows = currentStates(account, limits, now);
    return { ok: true, lease: toLease({ id, limits }, receipt), windows, now, replayed: false };
  }

  renew({ lease, observedMicro, leaseMs }: RenewRequest, now: number): RenewStatus {
    const { id } = lease;
    const account = this.find(lease.account, now);
    const reservation = this.#reservations.get(id);
    if (!reservation || reservation.state === "ended") return "closed";
    const { receipt, held } = reservation;
    requireSame(id, receipt, lease);
    const checkpoint = Math.max(reservation.checkpoint, observedMicro);

    if (reservation.state === "hold") {
      const raised = raisedHold(account, held, observedMicro);
      this.#reservations.renew(id, raised, checkpoint, Math.max(reservation.expiresAt, now + leaseMs));
      if (raised === held) return "renewed";
      addHold(account, receipt, raised - held);
      this.#accounts.put(account);
      return "renewed";
    }

    const rise = checkpoint - reservation.checkpoint;
    this.#reservations.raiseCheckpoint(id, checkpoint, now);
    if (rise === 0) return "expired";
    addCharge(account, receipt, { held: 0, charge: rise }, now);
    this.#journal.write(account, { id, kind: "checkpoint", at: now, amountMicro: rise, starts: receipt.starts });
    this.#accounts.put(account);
    return "expired";
  }

  end(kind: EndKind, lease: Lease, settlement: Settlement, now: number): SettleResult {
    const account = this.find(lease.account, now);
    const status = this.#settle(account, lease, { kind, settlement }, now);
    if (status !== "duplicate") this.#accounts.put(account);
    return { status, windows: currentStates(account, lease.limits, now) };
  }

  /** Shows expired holds as ended, but writes nothing. */
  balance(accountId: string, limits: WindowLimits, now: number): { windows: WindowStates; now: number } {
    const account = this.#accounts.get(accountId) ?? newAccount(accountId);
    if (account.nextExpiry !== null && account.nextExpiry <= now) {
      for (const { receipt, held, checkpoint } of this.#reservations.due(accountId, now)) {
        addCharge(account, receipt, { held, charge: checkpoint }, now);
      }
    }
    return { windows: windowStates(admittingInstances(account, limits, now), limits), now };
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

  /** The account, after its expired holds have ended. An unknown account is stored only with its first change. */
  find(accountId: string, now: number): AccountRow {
    const account = this.#accounts.get(accountId);
    if (!account) return newAccount(accountId);
    if (account.nextExpiry === null || now < account.nextExpiry) return account;
    for (const { id, receipt, held, checkpoint } of this.#reservations.due(accountId, now)) {
      addCharge(account, receipt, { held, charge: checkpoint }, now);
      if (checkpoint === 0) continue;
      this.#journal.write(account, {
        id,
        kind: "checkpoint",
        at: now,
        amountMicro: checkpoint,
        starts: receipt.starts,
      });
    }
    this.#reservations.expireDue(accountId, now);
    account.nextExpiry = this.#reservations.nextExpiry(accountId);
    this.#accounts.put(account);
    return account;
  }

  #settle(account: AccountRow, lease: Lease, end: End, now: number): SettleStatus {
    const { id } = lease;
    const reservation = this.#reservations.get(id);
    if (!reservation) return this.#recover(account, lease, end, now);
    const { kind, settlement } = end;
    const { receipt, state } = reservation;
    requireSame(id, receipt, lease);
    if (state === "ended") return "duplicate";

    // An expired hold is given back already, and its checkpoint charged.
    const [held, charged] = state === "hold" ? [reservation.held, 0] : [0, reservation.checkpoint];
    const charge = settlement.amountMicro - charged;
    addCharge(account, receipt, { held, charge }, now);
    this.#reservations.end(id, { kind, at: now, sequence: ++account.sequence, amount: charge, tags: settlement.tags });
    return state === "hold" ? "settled" : "late";
  }

  #recover(account: AccountRow, lease: Lease, { kind, settlement }: End, now: number): SettleStatus {
    const { amountMicro, mayBeDuplicateSince = Number.POSITIVE_INFINITY, tags } = settlement;
    const { id, account: accountId, amountMicro: reserved, expiresAt, starts, ends } = lease;
    if (isForgottenLease(lease, this.#forgotten.at(accountId))) return "duplicate";
    // Unknown, but perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
    if (Math.min(mayBeDuplicateSince, expiresAt) < this.#retention.forgottenUntil) {
      const unresolved = { ...tags, unresolvedMicro: amountMicro };
      this.#journal.write(account, { id, kind: "unresolved", at: now, amountMicro: 0, starts, tags: unresolved });
      return "unresolved";
    }
    const receipt: Receipt = { account: accountId, amountMicro: reserved, expiresAt, starts, ends };
    addCharge(account, receipt, { held: 0, charge: amountMicro }, now);
    this.#reservations.insertEnded(id, receipt, {
      kind,
      at: now,
      sequence: ++account.sequence,
      amount: amountMicro,
      tags,
    });
    return "recovered";
  }
}

function isNotEmpty(blocked: readonly Blocked[]): blocked is readonly [Blocked, ...Blocked[]] {
  return blocked.length > 0;
}
