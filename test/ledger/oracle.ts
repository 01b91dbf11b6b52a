import type {
  Blocked,
  EntryTags,
  Lease,
  LedgerEntry,
  WindowLimits,
  WindowName,
  WindowStates,
} from "../../src/ledger/credit-ledger.js";

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
}

const windows: readonly WindowName[] = ["session", "week", "month"];
const rank: Record<WindowName, number> = { month: 0, week: 1, session: 2 };

export class Oracle {
  now: number;
  /** How far the clock has moved in total. */
  moved = 0;
  accounts = new Map<string, Account>();
  readonly reservations = new Map<string, Reservation>();
  readonly grants = new Set<string>();
  readonly sessionStarts = new Set<number>();
  /**
   * Whether a charge can have come for a span that was not the newest, but may become it again: then it is in the journal
   * that callers see, and in no balance.
   */
  hasStray = false;
  /** When accounts were last forgotten, by the clock and in its total movement. */
  readonly forgotten = new Map<string, { at: number; since: number }>();
  /** Per account, the oldest first. */
  readonly entries = new Map<string, Entry[]>();

  constructor(now: number) {
    this.now = now;
  }

  moveClock(to: number): void {
    this.moved += Math.abs(to - this.now);
    if (to < this.now) this.hasStray = true;
    this.now = to;
  }

  reserve(
    id: string,
    account: string,
    amount: number,
    limits: WindowLimits,
    leaseMs: number,
    strict: boolean,
  ): { ok: boolean; replayed?: boolean; blocked?: Blocked[]; reservation?: Reservation } {
    this.expire(account);
    const earlier = this.reservations.get(id);
    if (earlier && earlier.state !== "lost") return { ok: true, replayed: true, reservation: earlier };

    const spans = this.spansAt(account, limits);
    const blocked: Blocked[] = [];
    for (const window of windows) {
      const limit = limits[window].limitMicro;
      if (limit === null) continue;
      const span = spans[window];
      const stock = limit + (span?.bonus ?? 0);
      const used = usedIn(span);
      const held = span ? this.heldIn(account, window, span) : 0;
      const fits = (taken: number) => taken < stock && (!strict || amount <= stock - taken);
      if (fits(used + held)) continue;
      const end = span ? span.end : this.now + limits.session.lengthMs;
      blocked.push(
        fits(used)
          ? { window, cause: "held", availableAt: Math.min(this.now + 5_000, end) }
          : { window, cause: "used", availableAt: end },
      );
    }
    if (blocked.length > 0) {
      blocked.sort((a, b) => b.availableAt - a.availableAt || rank[a.window] - rank[b.window]);
      return { ok: false, blocked };
    }

    const session = spans.session ?? newSpan(this.now, this.now + limits.session.lengthMs);
    const admitted = { session, week: spans.week, month: spans.month };
    for (const window of windows) {
      if (window !== "session" || amount > 0) this.makeNewest(account, window, required(admitted[window]));
    }
    const reservation = this.admit({ id, account, amount, limits }, admitted, leaseMs);
    return { ok: true, replayed: false, reservation };
  }

  /** A reservation that was admitted, and of which the ledger has lost all. */
  lose(id: string, account: string, amount: number, limits: WindowLimits, leaseMs: number): void {
    const spans = this.spansAt(account, limits);
    const session = spans.session ?? newSpan(this.now, this.now + limits.session.lengthMs);
    this.admit({ id, account, amount, limits }, { ...spans, session }, leaseMs).state = "lost";
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
    };
    this.reservations.set(id, reservation);
    this.sessionStarts.add(required(session).start);
    return reservation;
  }

  renew(id: string, observed: number, leaseMs: number): "renewed" | "expired" | "closed" {
    const reservation = required(this.reservations.get(id));
    this.expire(reservation.account);
    if (reservation.state === "open") {
      reservation.checkpoint = Math.max(reservation.checkpoint, observed);
      if (reservation.amount > 0) reservation.held = Math.max(reservation.held, observed);
      reservation.expiresAt = Math.max(reservation.expiresAt, this.now + leaseMs);
      return "renewed";
    }
    if (reservation.state === "expired") {
      const rise = Math.max(0, observed - reservation.checkpoint);
      this.charge(reservation, rise);
      if (rise > 0) this.write("checkpoint", reservation, rise);
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
        return age < 3_600_000 ? ["recovered"] : ["recovered", "unresolved"];
    }
  }

  /** @param tags - `undefined`: it is released. */
  applySettle(id: string, amount: number, status: string, tags: EntryTags | undefined): void {
    if (status === "duplicate") return;
    const reservation = required(this.reservations.get(id));
    if (status === "unresolved") {
      this.write("unresolved", reservation, 0, { ...tags, unresolvedMicro: amount });
      return;
    }
    const charged = status === "late" ? reservation.checkpoint : 0;
    reservation.state = "ended";
    reservation.since = this.moved;
    reservation.isForgotten = false;
    this.charge(reservation, amount - charged);
    this.write(tags ? "charge" : "release", reservation, amount - charged, tags);
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

  forget(account: string): void {
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
  hasExpirable(account: string): boolean {
    return [...this.reservations.values()].some((reservation) => this.isExpirable(reservation, account));
  }

  /** The moments at which something of an account begins or ends. */
  moments(): number[] {
    const ends = [...this.accounts.values()].flatMap((account) =>
      windows.flatMap((window) => account[window]?.end ?? []),
    );
    const expiries = [...this.reservations.values()].flatMap((r) => (r.state === "open" ? [r.expiresAt] : []));
    return [...ends, ...expiries];
  }

  toLease({ id, account, amount, firstExpiresAt, starts, ends, limits }: Reservation): Lease {
    return { id, account, amountMicro: amount, expiresAt: firstExpiresAt, starts, ends, limits };
  }

  private copy(): Oracle {
    const copy = new Oracle(this.now);
    copy.moved = this.moved;
    copy.accounts = structuredClone(this.accounts);
    for (const [id, reservation] of this.reservations) copy.reservations.set(id, structuredClone(reservation));
    return copy;
  }

  /** What every operation on an account begins with. */
  expire(account: string): void {
    const due = [...this.reservations.values()].filter((reservation) => this.isExpirable(reservation, account));
    for (const reservation of due.sort((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1))) {
      reservation.state = "expired";
      reservation.since = this.moved;
      this.charge(reservation, reservation.checkpoint);
      if (reservation.checkpoint > 0) this.write("checkpoint", reservation, reservation.checkpoint);
    }
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
      const isHeld = reservation.state === "open" && reservation.account === account;
      if (isHeld && reservation.starts[window] === span.start) sum += reservation.held;
    }
    return sum;
  }

  /** A charge belongs to the spans that were open at the admission, so far as they are still known, or open. */
  private charge({ account, starts, ends }: Reservation, amount: number): void {
    for (const window of windows) {
      const newest = this.accounts.get(account)?.[window];
      const isOver = !newest || (newest.end <= this.now && newest.start < starts[window]);
      if (newest?.start === starts[window]) {
        newest.journal.push(amount);
      } else if (amount > 0 && isOver && this.now < ends[window]) {
        this.makeNewest(account, window, { ...newSpan(starts[window], ends[window]), journal: [amount] });
      } else if (amount !== 0 && this.now < ends[window]) {
        this.hasStray = true;
      }
    }
    this.closeSession(account);
  }

  private write(
    kind: LedgerEntry["kind"],
    { id, account, starts }: { id: string; account: string; starts: LedgerEntry["starts"] },
    amount: number,
    tags: EntryTags = {},
  ): void {
    const entries = this.entries.get(account) ?? [];
    entries.push({ id, kind, at: this.now, amountMicro: amount, starts, tags, since: this.moved });
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
