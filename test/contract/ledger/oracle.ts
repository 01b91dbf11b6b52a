import type {
  AccountCredits,
  Blocked,
  EntryTags,
  Lease,
  LedgerEntry,
  WindowLimits,
  WindowName,
  WindowStates,
} from "../../../src/ledger/credit-ledger.js";
import type { CapLimit, LeasedCap, RateLimit, RateUse } from "../../../src/ledger/limits.js";
import { type BucketEvent, foldLevel, foldPrepaid, isFull, type PrepaidEvent } from "./oracle-folds.js";

// What a ledger must do, written a second time: from the rules rather than from the code, with nothing clever in it.
// Counters do not exist here. What is used is the fold of a journal, what is held is a sum over open reservations.

/** A span of a window; `journal` holds charges, and "reset" where an operator set the use back to zero. */
interface Span {
  start: number;
  end: number;
  bonus: number;
  journal: (number | "reset")[];
}

/** The newest span of each window, if any is known. */
type Account = Record<WindowName, Span | undefined>;

/** A line of the journal that callers see. Each ledger makes a reset's id in its own way. */
export interface Entry extends Omit<LedgerEntry, "sequence"> {
  /** When it was written, in the clock's total movement up to then. */
  since: number;
}

export interface Reservation {
  id: string;
  account: string;
  amount: number;
  limits: WindowLimits;
  /** `lost`: the ledger does not know it, as after a fail-over. */
  state: "open" | "expired" | "ended" | "lost";
  held: number;
  checkpoint: number;
  firstExpiresAt: number;
  expiresAt: number;
  starts: Record<WindowName, number>;
  ends: Record<WindowName, number>;
  /** When it was made, expired or ended, in the clock's total movement up to then, forth and back. */
  since: number;
  /** Its account was forgotten since: the lease is void. */
  isForgotten: boolean;
  /** The clock had been put back before: a ledger may have forgotten what expired then, which this one seems to be. */
  isBehind: boolean;
  /** When it was made, if its account had prepaid credits then. */
  prepaidAt: number | undefined;
  /** What it held of them at first. */
  prepaid: number;
  /** What they have paid for it. */
  paid: number;
  caps: LeasedCap[] | undefined;
  rates: readonly RateLimit[] | undefined;
  /** What its renewals have reported. */
  uses: readonly RateUse[];
}

/** The caps and rates that an operation names. */
export interface Named {
  caps?: readonly CapLimit[] | undefined;
  rates?: readonly RateLimit[] | undefined;
}

const windows: readonly WindowName[] = ["session", "week", "month"];
const rank: Record<WindowName, number> = { month: 0, week: 1, session: 2 };

export class Oracle {
  now: number;
  /** How far the clock has moved in total. */
  moved = 0;
  /** The latest moment that the clock has ever shown. */
  latest: number;
  accounts = new Map<string, Account>();
  readonly reservations = new Map<string, Reservation>();
  readonly grants = new Set<string>();
  /** By account; those of caps and buckets by account and id. */
  prepaid = new Map<string, PrepaidEvent[]>();
  caps = new Map<string, Span>();
  buckets = new Map<string, BucketEvent[]>();
  readonly sessionStarts = new Set<number>();
  /**
   * Whether a charge can have come for a span that was not the newest, but may become it again: then it is in the journal
   * that callers see, and in no balance.
   */
  hasStray = false;
  /** The spans for which a charge came when they were over: by account, window and start. It is in the journal only. */
  readonly overCharged = new Set<string>();
  /** The accounts that operations were about since this was last emptied. */
  readonly touched = new Set<string>();
  /** When accounts were last forgotten, by the clock and in its total movement. */
  readonly forgotten = new Map<string, { at: number; since: number }>();
  /** Per account, the oldest first. */
  readonly entries = new Map<string, Entry[]>();

  constructor(now: number) {
    this.now = now;
    this.latest = now;
  }

  moveClock(to: number): void {
    this.moved += Math.abs(to - this.now);
    if (to < this.now) this.hasStray = true;
    this.now = to;
    this.latest = Math.max(this.latest, to);
  }

  /**
   * Whether a clock put back to this moment makes a ledger forget holds: it comes to an instance of a cap again in which
   * an open call counts, after the next one has taken its place. Ledgers keep the newest instance alone.
   */
  forgetsCaps(to: number): boolean {
    return [...this.reservations.values()].some(({ state, account, caps = [] }) => {
      const isReplaced = ({ id, start, end }: LeasedCap) => {
        return to < end && this.caps.get(`${account} ${id}`)?.start !== start;
      };
      return state === "open" && caps.some(isReplaced);
    });
  }

  reserve(
    id: string,
    account: string,
    amount: number,
    limits: WindowLimits,
    leaseMs: number,
    strict: boolean,
    named: Named = {},
  ): {
    ok: boolean;
    replayed?: boolean;
    blocked?: Blocked[];
    caps?: string[];
    rates?: string[];
    reservation?: Reservation;
  } {
    this.expire(account);
    const earlier = this.reservations.get(id);
    if (earlier && earlier.state !== "lost") return { ok: true, replayed: true, reservation: earlier };

    const spans = this.spansAt(account, limits);
    // A debt takes nothing from the plan, and what a plan is overdrawn by takes nothing from prepaid credits.
    const balance = Math.max(0, this.balanceAt(account, this.now));
    const needed = strict ? Math.max(1, amount) : 1;
    const blocked: Blocked[] = [];
    let leftOfPlan = Number.POSITIVE_INFINITY;
    for (const window of windows) {
      const limit = limits[window].limitMicro;
      if (limit === null) continue;
      const span = spans[window];
      const room = Math.max(0, limit + (span?.bonus ?? 0) - usedIn(span));
      const held = span ? this.heldIn(account, window, span) : 0;
      leftOfPlan = Math.min(leftOfPlan, room - held);
      if (room - held + balance - this.prepaidHeld(account) >= needed) continue;
      const end = span ? span.end : this.now + limits.session.lengthMs;
      blocked.push(
        room + balance >= needed
          ? { window, cause: "held", availableAt: Math.min(this.now + 5_000, end) }
          : { window, cause: "used", availableAt: end },
      );
    }
    const caps = this.fullCaps(account, amount, strict, named);
    const rates = this.emptyBuckets(account, named);
    if (blocked.length > 0 || caps.length > 0 || rates.length > 0) {
      blocked.sort((a, b) => b.availableAt - a.availableAt || rank[a.window] - rank[b.window]);
      return { ok: false, blocked, caps, rates };
    }
    const prepaid = balance > 0 ? amount - Math.min(amount, Math.max(0, leftOfPlan)) : 0;

    const session = spans.session ?? newSpan(this.now, this.now + limits.session.lengthMs);
    const admitted = { session, week: spans.week, month: spans.month };
    for (const window of windows) {
      if ((prepaid > 0 && prepaid === amount) || (window === "session" && amount === 0)) continue;
      this.makeNewest(account, window, required(admitted[window]));
    }
    const reservation = this.admit({ id, account, amount, limits }, admitted, leaseMs);
    if (balance > 0) Object.assign(reservation, { prepaidAt: this.now, prepaid });
    this.take(reservation, named);
    return { ok: true, replayed: false, reservation };
  }

  /**
   * A reservation that was admitted, and of which the ledger has lost all.
   *
   * @param prepaid - what it held of prepaid credits; `undefined`: there were none, as far as its lease says.
   * @param isInsured - whether it was admitted without the ledger, so that its session is none that the ledger knows.
   */
  lose(
    id: string,
    account: string,
    amount: number,
    limits: WindowLimits,
    leaseMs: number,
    { prepaid, isInsured }: { prepaid: number | undefined; isInsured: boolean },
  ): void {
    const spans = this.spansAt(account, limits);
    const known = isInsured ? undefined : spans.session;
    const session = known ?? newSpan(this.now, this.now + limits.session.lengthMs);
    const reservation = this.admit({ id, account, amount, limits }, { ...spans, session }, leaseMs);
    reservation.state = "lost";
    if (prepaid !== undefined) Object.assign(reservation, { prepaidAt: this.now, prepaid: Math.min(prepaid, amount) });
  }

  private admit(
    { id, account, amount, limits }: Pick<Reservation, "id" | "account" | "amount" | "limits">,
    { session, week, month }: Record<WindowName, Span | undefined>,
    leaseMs: number,
  ): Reservation {
    const reservation: Reservation = {
      id,
      account,
      amount,
      limits,
      state: "open",
      held: amount,
      checkpoint: 0,
      firstExpiresAt: this.now + leaseMs,
      expiresAt: this.now + leaseMs,
      starts: { session: required(session).start, week: required(week).start, month: required(month).start },
      ends: { session: required(session).end, week: required(week).end, month: required(month).end },
      since: this.moved,
      isForgotten: false,
      isBehind: this.now < this.latest,
      prepaidAt: undefined,
      prepaid: 0,
      paid: 0,
      caps: undefined,
      rates: undefined,
      uses: [],
    };
    this.reservations.set(id, reservation);
    this.sessionStarts.add(required(session).start);
    return reservation;
  }

  renew(id: string, observed: number, leaseMs: number, uses?: readonly RateUse[]): "renewed" | "expired" | "closed" {
    const reservation = required(this.reservations.get(id));
    this.expire(reservation.account);
    if (reservation.state === "open") {
      reservation.checkpoint = Math.max(reservation.checkpoint, observed);
      if (reservation.amount > 0) reservation.held = Math.max(reservation.held, observed);
      reservation.expiresAt = Math.max(reservation.expiresAt, this.now + leaseMs);
      if (uses) reservation.uses = uses;
      return "renewed";
    }
    if (reservation.state === "expired") {
      const rise = Math.max(0, observed - reservation.checkpoint);
      const paid = this.charge(reservation, rise);
      if (rise > 0) this.write("checkpoint", reservation, rise, {}, paid);
      reservation.checkpoint = Math.max(reservation.checkpoint, observed);
      reservation.since = this.moved;
      return "expired";
    }
    return "closed";
  }

  /**
   * Whether a hold that expired can pass for one from before its account was forgotten: the clock went back after the
   * forgetting, or the ledger no longer knows a hold made in the millisecond of the forgetting.
   */
  looksForgotten({ account, starts, since }: Reservation): boolean {
    const forgotten = this.forgotten.get(account);
    return forgotten !== undefined && starts.session < forgotten.at + (this.moved - since < 3_600_000 ? 0 : 1);
  }

  /** Which statuses are right. Pass the one that the ledger returned to {@link applySettle}. */
  settleStatuses(id: string): readonly string[] {
    const reservation = required(this.reservations.get(id));
    const { account, state, since, isForgotten, starts } = reservation;
    this.expire(account);
    const age = this.moved - since;
    const forgotten = this.forgotten.get(account);
    if (isForgotten) {
      // By its session's start, which may be wrong when the clock has gone back meanwhile.
      const isTold = forgotten && starts.session <= forgotten.at && this.moved - forgotten.since < 86_400_000;
      return isTold ? ["duplicate"] : ["duplicate", "late", "recovered", "unresolved"];
    }
    switch (state) {
      case "open":
        return reservation.state === "open" ? ["settled"] : ["late"];
      case "expired":
        if (this.looksForgotten(reservation)) return ["late", "unresolved", "duplicate"];
        return age < 3_600_000 ? ["late"] : ["late", "unresolved"];
      case "ended":
        return age < 60_000 ? ["duplicate"] : ["duplicate", "unresolved"];
      case "lost":
        if (forgotten && starts.session <= forgotten.at) return ["recovered", "unresolved", "duplicate"];
        return age < 3_600_000 && !reservation.isBehind ? ["recovered"] : ["recovered", "unresolved"];
    }
  }

  /** @param tags - `undefined`: it is released. */
  applySettle(
    id: string,
    amount: number,
    status: string,
    tags: EntryTags | undefined,
    uses: readonly RateUse[] = [],
  ): void {
    if (status === "duplicate") return;
    const reservation = required(this.reservations.get(id));
    if (status === "unresolved") {
      this.write("unresolved", reservation, 0, { ...tags, unresolvedMicro: amount });
      return;
    }
    const charged = status === "late" ? reservation.checkpoint : 0;
    // What the ledger has forgotten of it was another charge.
    if (status === "recovered") reservation.paid = 0;
    if (status === "settled") {
      const all = tags
        ? uses
        : (reservation.rates ?? []).map((rate) => ({ id: rate.id, actual: usedOf(uses, rate.id) ?? 0 }));
      this.giveBack(reservation, all);
    }
    reservation.state = "ended";
    reservation.since = this.moved;
    reservation.isForgotten = false;
    const paid = this.charge(reservation, amount - charged);
    this.write(tags ? "charge" : "release", reservation, amount - charged, tags, paid);
  }

  grant(id: string, account: string, window: WindowName, amount: number, limits: WindowLimits): boolean {
    this.expire(account);
    const span = this.spansAt(account, limits)[window];
    if (this.grants.has(id)) return true;
    if (!span) return false;
    this.makeNewest(account, window, span);
    span.bonus += amount;
    this.grants.add(id);
    this.write("grant", { id, account, starts: { [window]: span.start } }, amount);
    this.closeSession(account);
    return true;
  }

  reset(account: string, names: readonly WindowName[]): void {
    this.expire(account);
    for (const window of names) {
      const span = this.accounts.get(account)?.[window];
      const used = usedIn(span);
      if (!span || used === 0 || span.end <= this.now) continue;
      span.journal.push("reset");
      this.write("reset", { id: "", account, starts: { [window]: span.start } }, -used);
    }
    this.closeSession(account);
  }

  topUp(id: string, account: string, amount: number, expiresAt: number | undefined): void {
    this.expire(account);
    if (this.grants.has(id)) return;
    this.grants.add(id);
    this.addPrepaid(account, { kind: "topup", amount, expiresAt: expiresAt ?? Number.MAX_SAFE_INTEGER });
    this.write("topup", { id, account, starts: {} }, amount);
  }

  deduct(id: string, account: string, amount: number): void {
    this.expire(account);
    if (this.grants.has(id)) return;
    this.grants.add(id);
    this.addPrepaid(account, { kind: "charge", amount, admittedAt: this.now });
    this.write("deduction", { id, account, starts: {} }, -amount);
  }

  /** What a caller sees beside the windows. */
  credits(account: string, named: Named): Omit<AccountCredits, "windows"> {
    if (this.hasExpirable(account)) {
      const copy = this.copy();
      copy.expire(account);
      return copy.credits(account, named);
    }
    const { piles, overdrawn } = foldPrepaid(this.prepaid.get(account) ?? []);
    const lots = new Map<number, number>();
    for (const { expiresAt, amount } of piles) lots.set(expiresAt, (lots.get(expiresAt) ?? 0) + amount);
    const live = [...lots].filter(([expiresAt]) => this.now < expiresAt);
    const heldMicro = this.prepaidHeld(account);
    const balanceMicro = live.reduce((sum, [, amount]) => sum + amount, 0 - overdrawn);
    return {
      ...(this.prepaid.has(account) && {
        prepaid: {
          balanceMicro,
          overdrawnMicro: Math.max(0, -balanceMicro),
          heldMicro,
          lots: live.map(([at, leftMicro]) => ({ expiresAt: at === Number.MAX_SAFE_INTEGER ? null : at, leftMicro })),
        },
      }),
      ...(named.caps && { caps: named.caps.map((cap) => this.capState(account, cap)) }),
      ...(named.rates && { rates: named.rates.map((rate) => this.rateState(account, rate)) }),
    };
  }

  private capState(account: string, cap: CapLimit) {
    const { id, window, limitMicro } = cap;
    const span = this.capSpan(account, cap);
    return {
      ...{ id, window, limitMicro, usedMicro: usedIn(span), heldMicro: this.heldInCap(account, id, span) },
      startsAt: span.start,
      resetsAt: window === "total" ? null : span.end,
    };
  }

  private rateState(account: string, { id, kind, limit, burst }: RateLimit) {
    if (kind === "concurrent") {
      return { id, kind, limit, remaining: Math.max(0, limit - this.takenOf(account, id)), fullInMs: 0 };
    }
    const level = this.level(account, id, kind, burst);
    const fullInMs = limit === 0 ? 0 : Math.ceil((burst * 60_000 - level) / limit);
    return { id, kind, limit, remaining: Math.max(0, Math.floor(level / 60_000)), fullInMs };
  }

  forget(account: string): void {
    this.touched.add(account);
    this.prepaid.delete(account);
    for (const key of [...this.caps.keys()]) if (key.startsWith(`${account} `)) this.caps.delete(key);
    for (const key of [...this.buckets.keys()]) if (key.startsWith(`${account} `)) this.buckets.delete(key);
    this.accounts.delete(account);
    this.entries.delete(account);
    this.forgotten.set(account, {
      at: Math.max(this.forgotten.get(account)?.at ?? this.now, this.now),
      since: this.moved,
    });
    for (const reservation of this.reservations.values()) {
      if (reservation.account !== account) continue;
      reservation.isForgotten = true;
      if (reservation.state === "open") reservation.state = "lost";
    }
  }

  /** What a caller sees. Expired holds count as ended, but are not ended by looking. */
  states(account: string, limits: WindowLimits): WindowStates {
    if (this.hasExpirable(account)) {
      const copy = this.copy();
      copy.expire(account);
      return copy.states(account, limits);
    }
    const spans = this.spansAt(account, limits);
    const state = (window: WindowName) => {
      const span = spans[window];
      return {
        limitMicro: limits[window].limitMicro,
        usedMicro: usedIn(span),
        heldMicro: span ? this.heldIn(account, window, span) : 0,
        bonusMicro: span?.bonus ?? 0,
        startsAt: span?.start ?? null,
        resetsAt: span?.end ?? null,
      };
    };
    return { session: state("session"), week: state("week"), month: state("month") };
  }

  /** Whether a hold has expired and no operation has noticed yet. */
  /** @param charged - only those that have reported a cost. */
  hasExpirable(account: string, { charged = false } = {}): boolean {
    return [...this.reservations.values()].some((reservation) => {
      return this.isExpirable(reservation, account) && (!charged || reservation.checkpoint > 0);
    });
  }

  /** The moments at which something of an account begins or ends. */
  moments(): number[] {
    const ends = [...this.accounts.values()].flatMap((account) =>
      windows.flatMap((window) => account[window]?.end ?? []),
    );
    const expiries = [...this.reservations.values()].flatMap((r) => (r.state === "open" ? [r.expiresAt] : []));
    const lots = [...this.prepaid.values()].flatMap((events) =>
      events.flatMap((event) => (event.kind === "topup" ? event.expiresAt : [])),
    );
    return [...ends, ...expiries, ...lots.filter((end) => end < Number.MAX_SAFE_INTEGER)];
  }

  toLease(reservation: Reservation): Lease {
    const { id, account, amount, firstExpiresAt, starts, ends, limits, prepaidAt, prepaid, caps, rates } = reservation;
    return {
      ...{ id, account, amountMicro: amount, expiresAt: firstExpiresAt, starts, ends, limits },
      ...(prepaidAt !== undefined && { prepaidAt, prepaidMicro: prepaid }),
      ...(caps && { caps }),
      ...(rates && { rates }),
    };
  }

  /** The prepaid credits that had not expired at a moment, less what is overdrawn. */
  private balanceAt(account: string, moment: number): number {
    const { piles, overdrawn } = foldPrepaid(this.prepaid.get(account) ?? []);
    const live = piles.filter(({ expiresAt }) => moment < expiresAt);
    return live.reduce((sum, { amount }) => sum + amount, 0) - overdrawn;
  }

  private prepaidHeld(account: string): number {
    return this.openOf(account).reduce((sum, one) => sum + prepaidHeldBy(one), 0);
  }

  private openOf(account: string): Reservation[] {
    return [...this.reservations.values()].filter((one) => one.state === "open" && one.account === account);
  }

  private fullCaps(account: string, amount: number, strict: boolean, { caps = [] }: Named): string[] {
    const isFull = (cap: CapLimit) => {
      const span = this.capSpan(account, cap);
      const left = cap.limitMicro - usedIn(span) - this.heldInCap(account, cap.id, span);
      return left < (strict ? Math.max(1, amount) : 1);
    };
    return caps.filter(isFull).map(({ id }) => id);
  }

  private capSpan(account: string, { id, bounds }: CapLimit): Span {
    const known = this.caps.get(`${account} ${id}`);
    if (known && this.now < known.end) return known;
    const index = bounds.findLastIndex((bound) => bound <= this.now);
    const [from, to] = [required(bounds[index]), required(bounds[index + 1])];
    return newSpan(known && known.start >= from ? known.end : from, to);
  }

  private heldInCap(account: string, id: string, { start }: Span): number {
    const counts = ({ caps }: Reservation) => caps?.some((cap) => cap.id === id && cap.start === start);
    return this.openOf(account)
      .filter(counts)
      .reduce((sum, { held }) => sum + held, 0);
  }

  private emptyBuckets(account: string, { rates = [] }: Named): string[] {
    const lacks = ({ id, kind, take, limit, burst }: RateLimit) => {
      if (kind === "concurrent") return this.takenOf(account, id) + take > limit;
      return this.level(account, id, kind, burst) < (kind === "requests" ? take * 60_000 : 1);
    };
    return rates.filter(lacks).map(({ id }) => id);
  }

  private level(account: string, id: string, kind: RateLimit["kind"], burst: number): number {
    const held = kind === "tokens" ? this.takenOf(account, id) : 0;
    return foldLevel(this.buckets.get(`${account} ${id}`) ?? [], this.now, burst, held);
  }

  private takenOf(account: string, id: string): number {
    return this.openOf(account)
      .flatMap(({ rates = [] }) => rates.filter((rate) => rate.id === id))
      .reduce((sum, { take }) => sum + take, 0);
  }

  private take(reservation: Reservation, { caps, rates }: Named): void {
    const { account, amount } = reservation;
    for (const rate of rates ?? []) {
      const { id, kind, take, limit, burst } = rate;
      if (kind === "concurrent") continue;
      const heldBefore = kind === "tokens" ? this.takenOf(account, id) : 0;
      this.addToBucket(account, id, { at: this.now, change: -take, limit, burst, isReservation: true, heldBefore });
    }
    reservation.rates = rates;
    reservation.caps = caps?.map((cap) => {
      const span = this.capSpan(account, cap);
      if (amount > 0) this.caps.set(`${account} ${cap.id}`, span);
      return { id: cap.id, window: cap.window, limitMicro: cap.limitMicro, start: span.start, end: span.end };
    });
  }

  private giveBack({ account, rates = [] }: Reservation, uses: readonly RateUse[]): void {
    for (const { id, kind, take, limit, burst } of rates) {
      if (kind === "concurrent") continue;
      const isUnused = kind === "requests" || this.takenOf(account, id) === 0;
      if (isUnused && isFull(this.buckets.get(`${account} ${id}`) ?? [], this.now)) continue;
      const change = take - (usedOf(uses, id) ?? take);
      this.addToBucket(account, id, { at: this.now, change, limit, burst, isReservation: false, heldBefore: 0 });
    }
  }

  private addToBucket(account: string, id: string, event: BucketEvent): void {
    const key = `${account} ${id}`;
    this.buckets.set(key, [...(this.buckets.get(key) ?? []), event]);
  }

  private addPrepaid(account: string, event: PrepaidEvent): void {
    this.prepaid.set(account, [...(this.prepaid.get(account) ?? []), event]);
  }

  private copy(): Oracle {
    const copy = new Oracle(this.now);
    copy.moved = this.moved;
    copy.accounts = structuredClone(this.accounts);
    copy.prepaid = new Map(this.prepaid);
    copy.caps = structuredClone(this.caps);
    copy.buckets = new Map(this.buckets);
    for (const [id, reservation] of this.reservations) copy.reservations.set(id, structuredClone(reservation));
    return copy;
  }

  /** What every operation on an account begins with. */
  expire(account: string): void {
    this.touched.add(account);
    const due = [...this.reservations.values()].filter((reservation) => this.isExpirable(reservation, account));
    for (const reservation of due.sort((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1))) {
      const { rates = [], uses } = reservation;
      const rest = ({ id, kind, take }: RateLimit) => ({
        id,
        actual: usedOf(uses, id) ?? (kind === "tokens" ? 0 : take),
      });
      this.giveBack(reservation, rates.map(rest));
      reservation.state = "expired";
      reservation.since = this.moved;
      const paid = this.charge(reservation, reservation.checkpoint);
      if (reservation.checkpoint > 0) this.write("checkpoint", reservation, reservation.checkpoint, {}, paid);
    }
    this.lapse(account);
  }

  /** Of what has expired, open calls may need what they found, and what ended after their admission. */
  private lapse(account: string): void {
    const until = Math.min(this.now, ...this.openOf(account).map(({ prepaidAt }) => prepaidAt ?? this.now));
    const { piles } = foldPrepaid(this.prepaid.get(account) ?? []);
    const lapsed = new Map<number, number>();
    for (const { expiresAt, amount } of piles) {
      if (expiresAt <= until) lapsed.set(expiresAt, (lapsed.get(expiresAt) ?? 0) + amount);
    }
    if (lapsed.size === 0) return;
    this.addPrepaid(account, { kind: "lapse", at: until });
    for (const [endedAt, amount] of lapsed) this.write("expiry", { id: "", account, starts: {} }, -amount, { endedAt });
  }

  private isExpirable({ account: owner, state, expiresAt }: Reservation, account: string): boolean {
    return owner === account && state === "open" && expiresAt <= this.now;
  }

  /** The spans that hold now: known ones, or for weeks and months what the caller's bounds say. */
  private spansAt(account: string, limits: WindowLimits): Record<WindowName, Span | undefined> {
    const newest = this.accounts.get(account);
    const calendar = (window: "week" | "month") => {
      const { bounds } = limits[window];
      const index = bounds.findLastIndex((bound) => bound <= this.now);
      const [from, to] = [required(bounds[index]), required(bounds[index + 1])];
      const known = newest?.[window];
      if (!known) return newSpan(from, to);
      if (this.now < known.end) return known;
      return newSpan(known.start < from ? from : known.end, to);
    };
    const session = newest?.session;
    return {
      session: session && this.now < session.end ? session : undefined,
      week: calendar("week"),
      month: calendar("month"),
    };
  }

  private heldIn(account: string, window: WindowName, span: Span): number {
    let sum = 0;
    for (const reservation of this.reservations.values()) {
      const { state, account: owner, held } = reservation;
      const isHeld = state === "open" && owner === account;
      if (isHeld && reservation.starts[window] === span.start) sum += held - prepaidHeldBy(reservation);
    }
    return sum;
  }

  /**
   * Charges the plan as far as it has room, and prepaid credits the rest. A charge of the plan belongs to the spans that
   * were open at the admission, so far as they are still known, or open. @returns what prepaid credits pay.
   */
  private charge(reservation: Reservation, amount: number): number {
    this.chargeCaps(reservation, amount);
    const paid = this.paidByPrepaid(reservation, amount);
    if (paid !== 0) {
      const admittedAt = reservation.prepaidAt ?? this.now;
      this.addPrepaid(reservation.account, { kind: "charge", amount: paid, admittedAt });
      reservation.paid += paid;
    }
    this.chargeWindows(reservation, amount - paid);
    return paid;
  }

  private paidByPrepaid(
    { account, starts, ends, limits, prepaidAt, prepaid, paid, amount: reserved }: Reservation,
    amount: number,
  ) {
    // What is given back goes to prepaid credits first.
    if (amount < 0) return -Math.min(-amount, paid);
    if (prepaid === 0 && this.balanceAt(account, prepaidAt ?? this.now) <= 0) return 0;
    const rooms: number[] = [];
    for (const window of windows) {
      const limit = limits[window].limitMicro;
      const newest = this.accounts.get(account)?.[window];
      if (limit === null || ends[window] <= this.now) continue;
      if (newest?.start === starts[window]) rooms.push(Math.max(0, limit + newest.bonus - usedIn(newest)));
      else if (!newest || (newest.end <= this.now && newest.start < starts[window])) rooms.push(limit);
    }
    if (rooms.length === 0) return prepaid > 0 && prepaid === reserved ? amount : 0;
    return Math.max(0, amount - Math.min(...rooms));
  }

  private chargeWindows({ account, starts, ends }: Reservation, amount: number): void {
    for (const window of windows) {
      const newest = this.accounts.get(account)?.[window];
      const isOver = !newest || (newest.end <= this.now && newest.start < starts[window]);
      if (newest?.start === starts[window]) {
        newest.journal.push(amount);
      } else if (amount > 0 && isOver && this.now < ends[window]) {
        this.makeNewest(account, window, { ...newSpan(starts[window], ends[window]), journal: [amount] });
      } else if (amount !== 0) {
        if (this.now < ends[window]) this.hasStray = true;
        this.overCharged.add(`${account} ${window} ${starts[window]}`);
      }
    }
    this.closeSession(account);
  }

  private chargeCaps({ account, caps = [] }: Reservation, amount: number): void {
    for (const { id, start, end } of caps) {
      const key = `${account} ${id}`;
      const newest = this.caps.get(key);
      if (newest?.start === start) newest.journal.push(amount);
      else if (amount > 0 && this.now < end && (!newest || (newest.end <= this.now && newest.start < start))) {
        this.caps.set(key, { ...newSpan(start, end), journal: [amount] });
      }
      const known = this.caps.get(key);
      // Its own hold has ended by now.
      if (known && usedIn(known) === 0 && this.heldInCap(account, id, known) === 0) this.caps.delete(key);
    }
  }

  private write(
    kind: LedgerEntry["kind"],
    { id, account, starts }: Pick<Reservation, "id" | "account"> & { starts: LedgerEntry["starts"] },
    amount: number,
    tags: EntryTags = {},
    paid = 0,
  ): void {
    const entries = this.entries.get(account) ?? [];
    entries.push({
      ...{ id, kind, at: this.now, amountMicro: amount, tags, since: this.moved },
      ...(paid !== 0 && { prepaidMicro: paid }),
      starts: paid !== 0 && paid === amount ? {} : starts,
    });
    this.entries.set(account, entries);
  }

  private closeSession(accountId: string): void {
    const account = this.accounts.get(accountId);
    const session = account?.session;
    if (!account || !session) return;
    const isUnused = usedIn(session) === 0 && this.heldIn(accountId, "session", session) === 0;
    if (isUnused && session.bonus === 0) account.session = undefined;
  }

  private makeNewest(accountId: string, window: WindowName, span: Span): void {
    const account = this.accounts.get(accountId) ?? { session: undefined, week: undefined, month: undefined };
    account[window] = span;
    this.accounts.set(accountId, account);
  }
}

/** What an open call holds of prepaid credits: what the plan had not left, and what it has risen by since. */
function prepaidHeldBy({ prepaid, amount, held }: Reservation): number {
  return prepaid > 0 ? prepaid + held - amount : 0;
}

function usedOf(uses: readonly RateUse[], id: string): number | undefined {
  return uses.find((use) => use.id === id)?.actual;
}

function newSpan(start: number, end: number): Span {
  return { start, end, bonus: 0, journal: [] };
}

function usedIn(span: Span | undefined): number {
  let used = 0;
  for (const entry of span?.journal ?? []) used = entry === "reset" ? 0 : Math.max(0, used + entry);
  return used;
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("The oracle expected a value.");
  return value;
}
