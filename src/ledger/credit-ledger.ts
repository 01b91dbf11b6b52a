import type { Micro } from "../prices/micro.js";
import type {
  BlockedCap,
  BlockedRate,
  Bounds,
  CapLimit,
  CapState,
  DeductRequest,
  LeasedCap,
  PrepaidState,
  RateLimit,
  RateState,
  RateUse,
  TopUpRequest,
} from "./limits.js";
import type {
  AccountStatement,
  PeriodTotal,
  StatementRequest,
  TotalsRequest,
  UsageRequest,
  UsageSum,
} from "./usage/usage-request.js";

/** The three windows in which an account's credits are counted. */
export type WindowName = "session" | "week" | "month";

/** The windows in the order in which a tie is reported: the longest first. */
export const windowNames: readonly WindowName[] = ["month", "week", "session"];

/**
 * The limits of a plan, as each operation carries them. `limitMicro: null` means unlimited: counted, but never denied.
 * The store picks the calendar interval `[bounds[i], bounds[i + 1])` that contains *its own* now.
 */
export interface WindowLimits {
  session: { limitMicro: Micro | null; lengthMs: number };
  week: { limitMicro: Micro | null; bounds: Bounds };
  month: { limitMicro: Micro | null; bounds: Bounds };
}

/** One window of an account, as the store has it now. Times are epoch milliseconds. */
export interface WindowState {
  /** The plan's limit, without the bonus. `null`: unlimited. */
  limitMicro: Micro | null;
  /** Settled charges of the current instance. */
  usedMicro: Micro;
  /** Open reservations of the current instance. */
  heldMicro: Micro;
  /** Sum of the grants to the current instance; may be negative. */
  bonusMicro: Micro;
  /** `null` while no session is open. */
  startsAt: number | null;
  /** `null` while no session is open. */
  resetsAt: number | null;
}

export type WindowStates = Readonly<Record<WindowName, WindowState>>;

/**
 * A reservation. Plain JSON, so it can go through a queue, a file or another process. Unless it is renewed, it expires
 * at the first operation on its account at or after `expiresAt`.
 */
export interface Lease {
  readonly id: string;
  readonly account: string;
  readonly amountMicro: Micro;
  readonly expiresAt: number;
  /**
   * The window instances that were open at admission; the charge belongs to these. An amount of 0 opens no session.
   * Then this is the session that it would have opened.
   */
  readonly starts: Readonly<Record<WindowName, number>>;
  readonly ends: Readonly<Record<WindowName, number>>;
  /** The limits of the reservation. The result of a settlement shows the windows against these. */
  readonly limits: WindowLimits;
  /** When it was admitted, in epoch milliseconds, if its account had prepaid credits then. */
  readonly prepaidAt?: number | undefined;
  /**
   * What it holds of prepaid credits, since the plan had less left than its amount. The windows hold the rest. Default:
   * 0, but all of the amount where `prepaidAt` is there.
   */
  readonly prepaidMicro?: Micro | undefined;
  /** The caps in which it counts. A repeated reservation that has ended may lack them. */
  readonly caps?: readonly LeasedCap[] | undefined;
  /** The buckets of which it has taken something. A repeated reservation that has ended may lack them. */
  readonly rates?: readonly RateLimit[] | undefined;
}

/** Why a window denies: `used` (wait for its reset) or `held` (requests in progress hold the rest). */
export interface Blocked {
  window: WindowName;
  cause: "used" | "held";
  /** Epoch milliseconds, always later than the store's now. */
  availableAt: number;
}

/** What an account has left, as an operation on it found it. */
export interface AccountCredits {
  windows: WindowStates;
  /** Absent: the account has never had any. */
  prepaid?: PrepaidState | undefined;
  /** Of the caps that the operation names, in their order. Absent: it names none. */
  caps?: readonly CapState[] | undefined;
  /** Of the rates that the operation names, in their order. Absent: it names none. */
  rates?: readonly RateState[] | undefined;
}

/** A reservation that was admitted. */
export interface AdmittedReservation extends AccountCredits {
  ok: true;
  lease: Lease;
  now: number;
  replayed: boolean;
}

/** A reservation that was denied: by at least one window, cap or rate. Each list begins with what is available last. */
export interface DeniedReservation extends AccountCredits {
  ok: false;
  /**
   * The windows of which nothing is left, neither of theirs nor of prepaid credits (ties: month, week, session). Empty
   * where the plan or prepaid credits could have paid.
   */
  blocked: readonly Blocked[];
  /** The caps that deny. Absent: none. */
  blockedCaps?: readonly BlockedCap[] | undefined;
  /** The rates that deny. Absent: none. */
  blockedRates?: readonly BlockedRate[] | undefined;
  now: number;
}

export type ReserveResult = AdmittedReservation | DeniedReservation;

/**
 * What became of a settlement.
 * - `settled`: the ledger charged it.
 * - `late`: the lease had expired. The ledger charged the amount less what the expiry had charged.
 * - `recovered`: the ledger did not have the id, so it charged the amount directly.
 * - `duplicate`: the id had ended already, or its account was forgotten since. Nothing changed.
 * - `unresolved`: the ledger does not have the id, and the settlement is so old that it may be a duplicate. Nothing was
 *   charged.
 */
export type SettleStatus = "settled" | "late" | "recovered" | "duplicate" | "unresolved";

export interface ReserveRequest {
  /**
   * Unique per request: well-formed Unicode without control characters, at most 256 characters. A second reservation
   * with the id of an admitted one returns the same lease with `replayed: true`, also when it has ended since. A denied
   * id leaves no trace.
   */
  id: string;
  /** The account: opaque, well-formed Unicode without control characters, at most 128 characters. */
  account: string;
  /** The upper-bound estimate to hold in all three windows. 0 is admitted like 1, but holds nothing and opens no session. */
  amountMicro: Micro;
  limits: WindowLimits;
  /** How long the hold lasts without renewal: 1 s to 15 min. */
  leaseMs: number;
  /**
   * Refuse also when `amountMicro` exceeds what remains, so that nothing is ever overdrawn. Default `false`.
   * An amount that exceeds the whole limit is then refused as `used`, until the window's end and ever after.
   */
  strict?: boolean;
  /** The caps in which the call counts, 16 at the most. */
  caps?: readonly CapLimit[] | undefined;
  /** The rates that the call is subject to, 32 at the most. */
  rates?: readonly RateLimit[] | undefined;
}

export interface RenewRequest {
  lease: Lease;
  /**
   * The cost so far. If the process dies, this is charged. It never falls. A smaller hold is raised to it, unless the
   * hold is 0.
   */
  observedMicro: Micro;
  leaseMs: number;
  /** What the call has used of its rates so far. If the process dies, the rest of what it took goes back. */
  rates?: readonly RateUse[] | undefined;
  /**
   * For the journal: whose call it is and of which model, without its tokens. If the process dies, the entry of
   * `observedMicro` has them. Absent: what an earlier renewal said stays.
   */
  tags?: EntryTags | undefined;
}

/**
 * `expired`: too late to hold anything, but `observedMicro` was charged. `closed`: ended or unknown; stop renewing it.
 */
export type RenewStatus = "renewed" | "expired" | "closed";

export interface Settlement {
  /** The real cost. It may exceed the hold. */
  amountMicro: Micro;
  /** The amount is an estimate: the upstream reported no usage. */
  estimated?: boolean;
  /** When this may be a repetition: epoch milliseconds of the first attempt. */
  mayBeDuplicateSince?: number;
  /**
   * For the journal: key, model, tokens by kind, price version… A character that a store cannot keep, such as NUL, is
   * replaced: no charge is lost because of its tags.
   */
  tags?: EntryTags;
  /** What the call really used of its rates. A rate that is not named keeps what was taken. */
  rates?: readonly RateUse[] | undefined;
}

/**
 * The tags of a journal entry. The gateway tags a charge with `keyId`, `model`, `plan`, `target` (such as
 * `openai/gpt-4o-mini`), `input`, `cachedInput`, `output`, `reasoning` (tokens), `source` (`provider`, `estimated` or
 * `partial`) and `price`. `price` is the credits per million input, cached input, output and reasoning tokens, and per call,
 * such as `0.15/0.075/0.6/0.6/0`. Only where there are some, it has `images`, `audioMs`, `characters`, `searches`, and tokens
 * that stand for images and audio: `inputImage`, `outputAudio` and so on. `imagesBy` says how many images there are of each
 * kind, such as `high/1024x1024:2`.
 */
export type EntryTags = Readonly<Record<string, string | number>>;

/**
 * One line of an account's journal; never changed once written. For each window instance, what is used equals the sum
 * of the amounts less their `prepaidMicro`, grants aside, of the entries that name the instance in `starts`. Add them up
 * from the oldest to the newest, and never below zero: a correction after a reset finds less to give back. A charge that
 * came when its instance was no longer the newest is in the journal only.
 *
 * - `charge`: a settlement. After a `checkpoint` of the same id its `amountMicro` is the difference, which may be
 *   negative.
 * - `checkpoint`: a lease expired, and the ledger charged the cost that its last renewal had reported. Not written for
 *   0.
 * - `release`: nothing was consumed. `amountMicro` is 0, or what an earlier checkpoint charged, negative.
 * - `grant`: `amountMicro` was added to the limit of one window's instance; not part of what is used.
 * - `topup`: `amountMicro` was added to the prepaid credits. It names no instance.
 * - `deduction`: `amountMicro` was taken back from the prepaid credits, negative. It names no instance.
 * - `expiry`: `amountMicro` of the prepaid credits lapsed that ended at one moment, negative. It names no instance.
 * - `reset`: the use of one window's instance was set back; `amountMicro` is what it was, negative.
 * - `unresolved`: a settlement that was not charged, since an earlier one may have been. `amountMicro` is 0, and
 *   `tags.unresolvedMicro` is the amount of the settlement.
 */
export interface LedgerEntry {
  /**
   * Identifies an entry within its account. Opaque: each store makes it in its own way, so it neither sorts nor counts.
   */
  readonly sequence: string;
  /** The request's, grant's or reset's id. A request has more than one entry if its lease had expired. */
  readonly id: string;
  readonly kind:
    | "charge"
    | "checkpoint"
    | "release"
    | "grant"
    | "topup"
    | "deduction"
    | "expiry"
    | "reset"
    | "unresolved";
  /** Epoch milliseconds by the store's clock. */
  readonly at: number;
  /** Micro-credits, signed. */
  readonly amountMicro: Micro;
  /** What of a `charge`, `checkpoint` or `release` prepaid credits paid, or got back: signed. Absent: nothing. */
  readonly prepaidMicro?: Micro | undefined;
  /**
   * The start of each window instance concerned, in epoch milliseconds. A grant or reset concerns one window, and what
   * prepaid credits pay alone concerns none.
   */
  readonly starts: Readonly<Partial<Record<WindowName, number>>>;
  /**
   * The tags of the settlement, or the `note` of a grant, a top-up or a deduction. An `expiry` has `endedAt`: when these
   * prepaid credits ended, in epoch milliseconds.
   */
  readonly tags: EntryTags;
}

export interface HistoryRequest {
  account: string;
  /** Epoch milliseconds, inclusive. Default: the beginning of what is kept. */
  from?: number | undefined;
  /** Epoch milliseconds, exclusive. Default: the end of what is kept. */
  to?: number | undefined;
  /** Only entries of these kinds, at least one. Default: all. */
  kinds?: readonly LedgerEntry["kind"][] | undefined;
  /** Only entries of this id: of one call, grant, top-up or deduction. Default: all. */
  id?: string | undefined;
  /** The cursor of the page before. Opaque, and valid for the same account in the same store. */
  cursor?: string | undefined;
  /** Entries per page, 1 to 1000. Default: 100. */
  limit?: number | undefined;
}

export interface HistoryPage {
  /** The newest first. */
  entries: readonly LedgerEntry[];
  /** Pass it to get the next page; absent on the last one. */
  cursor?: string | undefined;
}

export interface SettleResult extends AccountCredits {
  status: SettleStatus;
  /** What prepaid credits have paid of the cost, all charges of the id together. Absent: nothing, or it is not known. */
  prepaidMicro?: Micro | undefined;
}

export interface Balance extends AccountCredits {
  now: number;
}

export interface GrantRequest {
  /** Idempotency id, as a {@link ReserveRequest}'s. */
  id: string;
  account: string;
  window: WindowName;
  /** Added to the current instance's limit; negative is a correction. */
  amountMicro: Micro;
  limits: WindowLimits;
  /** Who grants, for the journal: a tag `by` of its entry. */
  by?: string | undefined;
  /** Why, for the journal: a tag `note` of its entry. */
  note?: string | undefined;
}

/**
 * Keeps every account's credits. Each operation is one atomic step over all three windows: no observer sees a
 * reservation or a charge in some of them only. Every operation is idempotent by its id, so a caller may repeat one
 * whose outcome did not arrive. The store's clock is the only clock.
 *
 * Errors: {@link LedgerUnavailableError} (retrying is safe), {@link LedgerConflictError} (same id, other account or
 * amount), {@link LedgerClockError} (the store's now lies outside `bounds`), {@link LedgerInputError}.
 */
export interface CreditLedger {
  /**
   * Whether the ledger keeps everything in this process's memory. Then no outage can happen to it, and the gateway
   * calls it without a guard: without time limits, repetitions and kept settlements. A copy of {@link
   * memoryCreditLedger} with methods of your own does not have this member. Default: `false`.
   */
  readonly inProcess?: boolean | undefined;
  /**
   * Whether it keeps caps, rates and prepaid credits, in the same step as the windows. The gateway refuses plans and keys
   * that need them where it does not. Default: `false`.
   */
  readonly keepsLimits?: boolean | undefined;
  /**
   * Admits if and only if something is left in one pool: in every limited window, what it has left (`limitMicro + bonusMicro -
   * usedMicro`, at least 0) and the balance of prepaid credits (at least 0), less what both hold. Then it holds the whole
   * `amountMicro`: of the plan as much as all limited windows have left, and the rest of prepaid credits. Where the account has
   * none, the windows hold all of it. Every cap and every rate must admit it as well, and holds its part then.
   * A denial is a value, not an exception, and changes nothing.
   * The first admitted reservation after the end of a session opens the next one.
   */
  reserve(request: ReserveRequest): Promise<ReserveResult>;
  /** Extends leases and records checkpoints. Returns one status for each lease. Never shortens a lease. */
  renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]>;
  /**
   * Replaces the hold by the real cost. The plan pays as far as every limited window has room (`limitMicro + bonusMicro -
   * usedMicro`), prepaid credits pay the rest. What neither covers overdraws the prepaid credits, if the account has some or the
   * call holds some, else the windows. The windows are the instances that were open at admission, with the limits of the
   * admission. One that has ended since limits no more; where all have, the plan pays what it held a part of.
   */
  settle(lease: Lease, settlement: Settlement): Promise<SettleResult>;
  /**
   * Gives the hold back: nothing was consumed. Does the same as a settlement of 0, so after the lease has expired it
   * gives back what the expiry charged. A session closes when nothing else in it is used, held or granted.
   *
   * @param rates - what the call used of its rates nevertheless. What is not named goes back.
   */
  release(lease: Lease, rates?: readonly RateUse[]): Promise<SettleResult>;
  /**
   * The state of an account. Never writes, never opens a window.
   *
   * @param of - the caps and rates to show as well.
   */
  balance(account: string, limits: WindowLimits, of?: Pick<ReserveRequest, "caps" | "rates">): Promise<Balance>;
  /**
   * Adds to the limit of one window's current instance, and ends with it. A limit of `null` stays unlimited. A second
   * grant with the same id adds nothing, and returns the windows as they are by then.
   *
   * A session with a grant stays open to its end, even if nothing is used in it: neither a release nor a reset takes
   * the grant away. A session in which grants and corrections come to 0 closes as any other that is unused.
   * {@link LedgerInputError} when the window is the session and none is open.
   */
  grant(request: GrantRequest): Promise<WindowStates>;
  /**
   * Adds prepaid credits, which pay what the plan has no room for. A second top-up with the same id adds nothing: the ledger
   * remembers the id for 31 days at least. Absent where the ledger keeps no prepaid credits.
   */
  topUp?(request: TopUpRequest): Promise<PrepaidState>;
  /**
   * Takes prepaid credits back, those that expire first. What the account has not, it owes. A second deduction with the same id
   * takes nothing, as for top-ups. Absent where the ledger keeps no prepaid credits.
   */
  deduct?(request: DeductRequest): Promise<PrepaidState>;
  /**
   * Gives the id of a top-up or deduction to an account, for 31 days at least after the latest time that it was, or throws a
   * {@link LedgerConflictError} where it is another account's. For a ledger of several: `topUp` and `deduct` look after the
   * ids of their own ledger.
   */
  claimTopUp?(id: string, account: string): Promise<void>;
  /**
   * Ends leases that have expired, of accounts that nobody may call any more: what their renewals had reported is charged
   * and comes into the journal. The gateway calls it every 20 seconds. Absent: the next operation on an account does it.
   *
   * @returns how many leases it ended. It may leave some to the next call.
   */
  sweep?(): Promise<number>;
  /**
   * Sets the use of the named windows' current instances back to zero. Open holds stay held, and will be charged when they
   * settle; what was granted stays granted. The session closes unless something is held in it or was granted to it.
   */
  reset(account: string, windows: readonly WindowName[]): Promise<void>;
  /**
   * Pages through the account's journal, the newest entry first. An expiry enters it at the next operation on its account
   * that writes. Absent where the store keeps none.
   */
  history?(request: HistoryRequest): Promise<HistoryPage>;
  /**
   * Sums up an account's `charge`, `checkpoint` and `release` entries, in any order. It blocks the process for some
   * milliseconds at the most. Sums outlive the journal: they are kept by day of UTC for 400 days at least. A day that
   * `from` or `to` divides is read from the journal, so it counts as far as the journal still has it.
   *
   * Absent where the store keeps no sums. The gateway reads the journal then.
   */
  usage?(request: UsageRequest): Promise<readonly UsageSum[]>;
  /**
   * Adds up the `charge`, `checkpoint` and `release` entries of all accounts, or of those that the request names, by periods.
   * Absent where the ledger cannot tell which accounts it has. The gateway then reads the journal of each account that has a
   * record.
   */
  totals?(request: TotalsRequest): Promise<readonly PeriodTotal[]>;
  /**
   * What became of an account's credits in a time. What is due ends first, as at any operation that writes. All of it is
   * of one moment: the balance at the end of the time is that of `balance` less what the journal says came after it.
   * Absent where the ledger keeps no journal or no prepaid credits.
   */
  statement?(request: StatementRequest): Promise<AccountStatement>;
  /**
   * Calls the listener whenever the store is connected again. It may be another server now, which lacks what the first
   * one acknowledged shortly before. Absent where that cannot happen.
   * @returns ends the subscription.
   */
  onReconnected?(listener: () => void): () => void;
  /**
   * Calls `onChange` with the account whenever any process grants, resets or forgets in the shared store, as soon as
   * this process gets the notice. Absent where the store has no such notices. Does not keep the process alive.
   * @returns ends the subscription. A promise where it takes time until notices arrive; it may reject.
   */
  subscribe?(onChange: (account: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
  /**
   * Forgets an account altogether, with its open holds and journal. Leases from before are void: for a day at least, a
   * settlement that still comes of one, be it the first or a repetition, is a `duplicate` that charges nothing and enters no
   * journal. What is reserved afterwards is a new account's. Whether the ids of its grants are still known is left open.
   */
  forget(account: string): Promise<void>;
  close(): Promise<void>;
}

/** The ledger could not be reached. Repeating the operation with the same id is safe. */
export class LedgerUnavailableError extends Error {
  override readonly name = "LedgerUnavailableError";
  /** The HTTP status that says so. */
  readonly status = 503;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 503;
}

/** The id was used before with another account or another amount. */
export class LedgerConflictError extends Error {
  override readonly name = "LedgerConflictError";
  /** The HTTP status that says so. */
  readonly status = 409;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 409;
}

/** The store's clock lies outside the calendar bounds that the caller sent: their clocks are more than a window apart. */
export class LedgerClockError extends Error {
  override readonly name = "LedgerClockError";
  /** The HTTP status that says so. */
  readonly status = 500;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 500;
}

/** An argument is out of range: a programming error of the caller. */
export class LedgerInputError extends Error {
  override readonly name = "LedgerInputError";
  /** The HTTP status that says so. */
  readonly status = 400;
  /** The same, for frameworks that read this name. */
  readonly statusCode = 400;
}
