import type { Micro } from "../../prices/micro.js";
import {
  type AccountCredits,
  type Balance,
  type DeniedReservation,
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
} from "../credit-ledger.js";
import { authorTags } from "../journal.js";
import type { DeductRequest, PrepaidState, TopUpRequest } from "../limits.js";
import {
  canHoldIn,
  expiredPart,
  type HeldLimits,
  holdLimits,
  type NamedLimits,
  newAccountLimits,
  partOfLease,
  raiseLimits,
  usesAtRelease,
} from "../rules/account-limits.js";
import { addTopUp, chargePrepaid, neverExpires, newPrepaid, type Prepaid, prepaidState } from "../rules/prepaid.js";
import { noUses } from "../rules/rates.js";
import {
  creditsAfter,
  creditsOf,
  judgeReservation,
  neededMicro,
  noPrepaidHold,
  noStarts,
  type Receipt,
  requireSame,
  type Settled,
  settledAs,
  toLease,
} from "../rules/reservation.js";
import {
  addHold,
  admit,
  admittingInstances,
  blockedWindows,
  canHold,
  closeEmptySession,
  currentStates,
  isForgottenLease,
  noInstances,
  raisedHold,
  sharedAdmission,
  windowStates,
  withSession,
} from "../rules/windows.js";
import { LiveStates } from "../window-states.js";
import { AccountKeeper } from "./account-keeper.js";
import type { AccountState, LedgerRecords, ReservationEnd, StoredReservation } from "./ledger-records.js";

type EndKind = ReservationEnd["kind"];

/** How a client wants a reservation to end. */
interface End {
  readonly kind: EndKind;
  readonly settlement: Settlement;
}

type Denial = Pick<DeniedReservation, "blocked" | "blockedCaps" | "blockedRates">;

/**
 * The only place where credits are reserved, renewed, settled, released, granted, topped up, deducted and reset. It decides, and
 * the store behind `records` keeps.
 *
 * Before it throws a refusal, it has written only what the mere time has changed: expired holds and lapsed credits. So a store
 * may keep what was written until then.
 */
export class LedgerEngine<Account extends AccountState> {
  readonly #records: LedgerRecords<Account>;
  readonly #keeper: AccountKeeper<Account>;

  /** @param neededBy - what is remembered of open calls that may need expired credits, where more engines share it. */
  constructor(records: LedgerRecords<Account>, neededBy?: Map<string, string>) {
    this.#records = records;
    this.#keeper = new AccountKeeper(records, neededBy);
  }

  /** The account, after its expired holds have ended and its expired prepaid credits have lapsed. */
  find(accountId: string, now: number): Account | undefined {
    return this.#keeper.find(accountId, now);
  }

  /** Ends the expired holds of an account. @returns how many. */
  endExpired(accountId: string, now: number): number {
    const account = this.#records.account(accountId);
    if (account === undefined) return 0;
    const { length } = this.#records.due(account, now);
    if (length > 0) this.#keeper.find(accountId, now);
    return length;
  }

  reserve(request: ReserveRequest, now: number): ReserveResult {
    const { id, account: accountId, amountMicro, limits, leaseMs, caps, rates } = request;
    const known = this.#keeper.find(accountId, now);
    const open = admittingInstances(known ?? noInstances, limits, now);
    const hasNames = caps !== undefined || rates !== undefined;
    if (known !== undefined) this.#records.load(known, request);

    const earlier = this.#records.reservation(id);
    if (earlier !== undefined) {
      requireSame(id, earlier.receipt, request);
      const lease = toLease(request, earlier.receipt, earlier.part);
      return admitted(lease, creditsOf(known, limits, request, now), now, true);
    }

    const { denial, prepaid, named } = judgeReservation(open, known?.limits, request, now);
    if (denial) return denied(denial, creditsOf(known, limits, request, now), now);
    const hasPart = prepaid !== undefined || hasNames;
    if (!canHold(open, amountMicro) || (hasPart && !canHoldIn(known?.limits, named, amountMicro))) {
      throw new LedgerInputError(`amountMicro ${amountMicro} is too large to be held on top of the rest.`);
    }

    const account = known ?? this.#records.addAccount(accountId, now);
    const instances = withSession(open, limits, now);
    account.admission = sharedAdmission(account.admission, instances);
    const { starts, ends } = account.admission;
    // One object for the lease and what is kept of it: most have nothing beside their windows.
    const receipt = { id, account: accountId, amountMicro, expiresAt: now + leaseMs, starts, ends, limits };
    let part: HeldLimits | undefined;
    if (hasPart) {
      account.limits ??= newAccountLimits();
      part = holdLimits(account.limits, named, request, prepaid ?? noPrepaidHold);
      this.#records.putNamed(account, part);
    }
    const ofPlan = part === undefined ? amountMicro : amountMicro - part.prepaidMicro;
    if (amountMicro === 0 || ofPlan > 0) {
      admit(account, instances, ofPlan);
      addHold(account, receipt, ofPlan);
    }
    this.#records.hold(account, openReservation(receipt, part));
    this.#records.put(account);
    if (account.limits === undefined && !hasNames) {
      return { ok: true, lease: receipt, windows: new LiveStates(account, limits, now), now, replayed: false };
    }
    return admitted(toLease(request, receipt, part), creditsOf(account, limits, request, now), now, false);
  }

  /** What a reservation of a new id would be denied with, whatever amount it asks for; `undefined`: it would be admitted. */
  denial(request: ReserveRequest, now: number): DeniedReservation | undefined {
    const { account, limits, caps, rates } = request;
    const known = this.#keeper.find(account, now);
    const open = admittingInstances(known ?? noInstances, limits, now);
    if (known?.limits === undefined && caps === undefined && rates === undefined) {
      // Windows alone can deny it, as often as a client likes: less is made of that.
      const blocked = blockedWindows(open, limits, { need: neededMicro(request), now });
      return blocked.length === 0 ? undefined : { ok: false, blocked, windows: windowStates(open, limits), now };
    }
    if (known !== undefined) this.#records.load(known, request);
    const { denial } = judgeReservation(open, known?.limits, request, now);
    return denial && denied(denial, creditsOf(known, limits, request, now), now);
  }

  renew({ lease, observedMicro, leaseMs, rates, tags }: RenewRequest, now: number): RenewStatus {
    const known = this.#keeper.find(lease.account, now);
    const reservation = this.#records.reservation(lease.id);
    if (reservation === undefined || reservation.state === "ended") return "closed";
    requireSame(lease.id, reservation.receipt, lease);
    if (reservation.state === "expired") {
      this.#chargeLate(known, reservation, { observedMicro, tags }, now);
      return "expired";
    }
    if (tags !== undefined) reservation.tags = tags;
    reservation.checkpoint = Math.max(reservation.checkpoint, observedMicro);
    reservation.expiresAt = Math.max(reservation.expiresAt, now + leaseMs);
    if (rates !== undefined) reservation.uses = rates;
    if (known !== undefined) this.#raise(known, reservation, observedMicro);
    this.#records.renew(reservation, now);
    return "renewed";
  }

  /** Settles or releases. */
  end(kind: EndKind, lease: Lease, settlement: Settlement, now: number): SettleResult {
    const known = this.#keeper.find(lease.account, now);
    const settled = this.#settle(known, lease, { kind, settlement }, now);
    const account = known ?? this.#records.account(lease.account);
    const hasNames = lease.caps !== undefined || lease.rates !== undefined;
    if (account !== undefined && account.limits === undefined && !hasNames && settled.prepaidMicro === undefined) {
      return { status: settled.status, windows: new LiveStates(account, lease.limits, now) };
    }
    if (account !== undefined) this.#records.load(account, lease);
    return { ...settled, ...creditsAfter(account, lease, now) };
  }

  /** Shows expired holds as ended, and changes nothing. */
  balance(accountId: string, limits: WindowLimits, of: NamedLimits, now: number): Balance {
    const account = this.#keeper.afterExpiry(accountId, of, now);
    admittingInstances(account ?? noInstances, limits, now);
    return { ...creditsOf(account, limits, of, now), now };
  }

  grant(request: GrantRequest, now: number): WindowStates {
    const { id, account: accountId, window, amountMicro, limits } = request;
    const known = this.#keeper.find(accountId, now);
    const open = admittingInstances(known ?? noInstances, limits, now);
    const earlier = this.#records.grant(id);
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

    const account = known ?? this.#records.addAccount(accountId, now);
    account[window] = instance;
    instance.bonus = bonus;
    closeEmptySession(account);
    const entry = { id, at: now, amountMicro, starts: { [window]: instance.start }, tags: authorTags(request) };
    this.#records.write(accountId, { kind: "grant", ...entry });
    this.#records.put(account);
    return currentStates(account, limits, now);
  }

  topUp(request: TopUpRequest, now: number): PrepaidState {
    const { amountMicro, expiresAt = neverExpires } = request;
    return this.#changePrepaid("topup", request, now, (prepaid) => {
      if (expiresAt <= now) throw new LedgerInputError(`expiresAt must be later than now, not ${expiresAt}.`);
      addTopUp(prepaid, amountMicro, expiresAt);
    });
  }

  deduct(request: DeductRequest, now: number): PrepaidState {
    const { amountMicro } = request;
    return this.#changePrepaid("deduction", { ...request, amountMicro: -amountMicro }, now, (prepaid) => {
      chargePrepaid(prepaid, amountMicro, now);
    });
  }

  reset(accountId: string, windows: readonly WindowName[], now: number): void {
    const account = this.#keeper.find(accountId, now);
    if (account === undefined) return;
    for (const window of windows) {
      const { used, start, end } = account[window];
      if (used === 0 || end <= now) continue;
      account[window].used = 0;
      const id = `reset_${this.#records.newId()}`;
      this.#records.write(accountId, { kind: "reset", id, at: now, amountMicro: -used, starts: { [window]: start } });
    }
    closeEmptySession(account);
    this.#records.put(account);
  }

  #changePrepaid(
    kind: "topup" | "deduction",
    request: TopUpRequest,
    now: number,
    change: (prepaid: Prepaid) => void,
  ): PrepaidState {
    const { id, account: accountId, amountMicro, expiresAt } = request;
    const known = this.#keeper.find(accountId, now);
    const prepaid = known?.limits?.prepaid ?? newPrepaid();
    const earlier = this.#records.prepaidChange(id);
    if (earlier) {
      requireSame(id, earlier, request);
      if (earlier.expiresAt !== expiresAt) throw new LedgerConflictError(`${id} was used with another expiry.`);
      return prepaidState(prepaid, now);
    }
    change(prepaid);
    const account = known ?? this.#records.addAccount(accountId, now);
    account.limits ??= newAccountLimits();
    account.limits.prepaid = prepaid;
    const tags = authorTags(request);
    this.#records.write(accountId, { kind, id, at: now, amountMicro, starts: noStarts, tags, expiresAt });
    this.#records.put(account);
    return prepaidState(prepaid, now);
  }

  /** Raises a hold to a larger cost, in all that it is part of. */
  #raise(account: Account, reservation: StoredReservation, observed: Micro): void {
    const { held, receipt, part } = reservation;
    const rise = raisedHold(account, held, observed) - held;
    if (rise === 0) return;
    reservation.held += rise;
    if (part === undefined || part.prepaidMicro === 0) addHold(account, receipt, rise);
    if (part !== undefined) {
      this.#records.load(account, { caps: part.caps });
      account.limits ??= newAccountLimits();
      raiseLimits(account.limits, part, rise);
      this.#records.putNamed(account, expiredPart(part));
    }
    this.#records.put(account);
  }

  /** Charges what a renewal reports after the expiry, beyond what is charged by then. */
  #chargeLate(
    known: Account | undefined,
    reservation: StoredReservation,
    { observedMicro, tags }: Pick<RenewRequest, "observedMicro" | "tags">,
    now: number,
  ): void {
    const { checkpoint, paid } = reservation;
    const rise = Math.max(0, observedMicro - checkpoint);
    const prepaidMicro = this.#charge(known, reservation, { charge: rise, paid }, now);
    reservation.checkpoint = checkpoint + rise;
    reservation.paid = paid + prepaidMicro;
    if (tags !== undefined) reservation.tags = tags;
    this.#records.renew(reservation, now);
    this.#keeper.writeCheckpoint(reservation, { amountMicro: rise, prepaidMicro }, now);
  }

  #settle(known: Account | undefined, lease: Lease, end: End, now: number): Settled {
    const { id } = lease;
    const reservation = this.#records.reservation(id);
    if (reservation === undefined) return this.#recover(known, lease, end, now);
    requireSame(id, reservation.receipt, lease);
    if (reservation.state === "ended") return settledAs("duplicate", reservation.paid);

    const { kind, settlement } = end;
    const { amountMicro, tags, rates = noUses } = settlement;
    const { part, held } = reservation;
    if (reservation.state === "hold" && known !== undefined) {
      const uses = kind === "release" && part !== undefined ? usesAtRelease(part, rates) : rates;
      const prepaid = this.#keeper.endHold(known, reservation, { held, charge: amountMicro, paid: 0, uses }, now);
      this.#records.end(known, reservation, { kind, at: now, amount: amountMicro, prepaid, paid: prepaid, tags });
      return settledAs("settled", prepaid);
    }
    // It is given back already, and its checkpoint charged.
    const amount = amountMicro - reservation.checkpoint;
    const prepaid = this.#charge(known, reservation, { charge: amount, paid: reservation.paid }, now);
    const paid = reservation.paid + prepaid;
    this.#records.end(known, reservation, { kind, at: now, amount, prepaid, paid, tags });
    return settledAs("late", paid);
  }

  /** Settles a lease of which nothing is known. */
  #recover(known: Account | undefined, lease: Lease, { kind, settlement }: End, now: number): Settled {
    const { id, account, amountMicro: reserved, expiresAt, starts, ends, limits } = lease;
    const { amountMicro: amount, mayBeDuplicateSince = Number.POSITIVE_INFINITY, tags } = settlement;
    if (isForgottenLease(lease, this.#records.forgottenAt(account))) return settledAs("duplicate", 0);
    // Perhaps only forgotten: then it was charged already, in full or up to its last checkpoint.
    const { endsKnownFrom, expiriesKnownFrom } = this.#records;
    if (mayBeDuplicateSince < endsKnownFrom || expiresAt < expiriesKnownFrom) {
      const entry = { id, at: now, amountMicro: 0, starts, tags: { ...tags, unresolvedMicro: amount } };
      this.#records.write(account, { kind: "unresolved", ...entry });
      return settledAs("unresolved", 0);
    }
    const receipt: Receipt = { account, amountMicro: reserved, expiresAt, starts, ends };
    const unknown = { id, receipt, limits, part: partOfLease(lease) };
    const prepaid = this.#charge(known, unknown, { charge: amount, paid: 0 }, now);
    this.#records.endUnknown(unknown, { kind, at: now, amount, prepaid, paid: prepaid, tags });
    return settledAs("recovered", prepaid);
  }

  /** Charges an amount, or undoes a charge, without a hold. @returns what prepaid credits pay of it. */
  #charge(
    known: Account | undefined,
    call: Pick<StoredReservation, "receipt" | "limits" | "part">,
    { charge, paid }: { charge: Micro; paid: Micro },
    now: number,
  ): Micro {
    const account = known ?? (charge > 0 ? this.#records.addAccount(call.receipt.account, now) : undefined);
    // Nothing comes back to an account of which nothing is known: one that has had prepaid credits is known.
    if (account === undefined) return 0;
    return this.#keeper.endHold(account, call, { held: 0, charge, paid, uses: noUses }, now);
  }
}

function openReservation(
  receipt: Receipt & Pick<Lease, "id" | "limits">,
  part: HeldLimits | undefined,
): StoredReservation {
  const { id, amountMicro, expiresAt, limits } = receipt;
  return {
    id,
    state: "hold",
    receipt,
    limits,
    held: amountMicro,
    checkpoint: 0,
    paid: 0,
    expiresAt,
    part,
    uses: noUses,
    tags: undefined,
    index: -1,
  };
}

function admitted(lease: Lease, credits: AccountCredits, now: number, replayed: boolean): ReserveResult {
  return { ok: true, lease, ...credits, now, replayed };
}

function denied(denial: Denial, credits: AccountCredits, now: number): DeniedReservation {
  return { ok: false, ...denial, ...credits, now };
}
