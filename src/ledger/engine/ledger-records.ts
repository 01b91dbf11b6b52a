import type { Micro } from "../../prices/micro.js";
import { type EntryTags, type GrantRequest, LedgerConflictError, type LedgerEntry } from "../credit-ledger.js";
import type { RateUse, TopUpRequest } from "../limits.js";
import type { AccountLimits, HeldLimits } from "../rules/account-limits.js";
import type { Receipt } from "../rules/reservation.js";
import type { AdmittedLimits, AdmittedWindows, Instances } from "../rules/windows.js";

/** An account: the newest instance of each window, and what it has beside them. */
export interface AccountState extends Instances {
  readonly id: string;
  /** Prepaid credits, caps and rates; most accounts have none. */
  limits: AccountLimits | undefined;
  /** The windows of the newest admission, which leases of the same windows share. */
  admission: AdmittedWindows | undefined;
}

/** A reservation that has not ended. */
export interface StoredReservation {
  readonly id: string;
  /** `expired`: its lease ran out. Its checkpoint is charged, and a late settlement charges the difference. */
  state: "hold" | "expired";
  readonly receipt: Receipt;
  /** Those of its admission. */
  readonly limits: AdmittedLimits;
  /** What is held while it is open: the amount reserved, or the cost seen where that is more. */
  held: Micro;
  /** The cost seen so far. If the process dies, this is charged. */
  checkpoint: Micro;
  /** What prepaid credits have paid for it. */
  paid: Micro;
  expiresAt: number;
  /** What it holds beside the windows, or in their place. `undefined`: nothing. */
  part: HeldLimits | undefined;
  /** What its renewals have reported of its rates. */
  uses: readonly RateUse[];
  /** What its renewals have said of the call. */
  tags: EntryTags | undefined;
  /** Where the store keeps it among the open ones of its account. The engine does not look at it. */
  index: number;
}

/** What is still known of a reservation that has ended. */
export interface EndedReservation {
  readonly state: "ended";
  readonly receipt: Receipt;
  readonly part?: undefined;
  /** What prepaid credits have paid for it. */
  readonly paid: Micro;
}

/** What a settlement charges to, also where it says itself what it had reserved. */
export type Reserved = Pick<StoredReservation, "id" | "receipt" | "limits" | "part">;

/** How a reservation ends, as it enters the journal. */
export interface ReservationEnd {
  readonly kind: "charge" | "release";
  readonly at: number;
  readonly amount: Micro;
  /** What prepaid credits pay of the amount. */
  readonly prepaid: Micro;
  /** What they have paid for the reservation in all. */
  readonly paid: Micro;
  readonly tags: EntryTags | undefined;
}

/** An entry of the journal that is not a reservation's end. */
export interface SideEntry extends Omit<LedgerEntry, "sequence" | "tags"> {
  readonly kind: "checkpoint" | "grant" | "topup" | "deduction" | "expiry" | "reset" | "unresolved";
  readonly tags?: EntryTags | undefined;
  /** Of a top-up. */
  readonly expiresAt?: number | undefined;
}

/** The open calls of an account that found prepaid credits when they were admitted. */
export interface PrepaidCalls {
  /** When the first of them was admitted. `undefined`: there is none. */
  readonly earliest: number | undefined;
  /** Of those that were admitted before a moment, the last one by its id. `undefined`: there is none. */
  readonly last: string | undefined;
}

/**
 * What a store keeps for the engine. It keeps records and decides nothing. All methods are synchronous, and what one operation
 * of the engine writes is kept all or not at all.
 *
 * The engine changes accounts and reservations in place, and says so with {@link put}, {@link putNamed} and {@link renew}.
 */
export interface LedgerRecords<Account extends AccountState = AccountState> {
  /** `undefined`: nothing is known of it. */
  account(id: string): Account | undefined;
  /** @throws LedgerUnavailableError where there is no room for another one. */
  addAccount(id: string, now: number): Account;
  /** The windows, or the prepaid credits, of an account have changed. */
  put(account: Account): void;
  /** Reads the named caps and rates into the account's limits. */
  load(account: Account, named: NamedRecords): void;
  /** Those caps and rates have changed. A cap that the account's limits have not is gone. */
  putNamed(account: Account, part: HeldLimits): void;

  reservation(id: string): StoredReservation | EndedReservation | undefined;
  /** The holds of an account that have expired, in any order. */
  due(account: Account, now: number): readonly StoredReservation[];
  hold(account: Account, reservation: StoredReservation): void;
  /** A renewal has changed it: while it is open, or after its lease has expired. */
  renew(reservation: StoredReservation, now: number): void;
  /** These holds have become `expired`. */
  expire(account: Account, reservations: readonly StoredReservation[], now: number): void;
  /** Ends a reservation, in the journal too. */
  end(account: Account | undefined, reservation: StoredReservation, end: ReservationEnd): void;
  /** The same for one of which nothing was known. */
  endUnknown(reserved: Reserved, end: ReservationEnd): void;
  /** Whatever has ended at this moment or later is still known, unless its account was forgotten. */
  readonly endsKnownFrom: number;
  /** Whatever has expired at this moment or later, and not ended yet, is still known. */
  readonly expiriesKnownFrom: number;
  /** When an account was forgotten last. `-Infinity`: that is not known. */
  forgottenAt(account: string): number;
  prepaidCalls(account: Account, before: number): PrepaidCalls;

  write(account: string, entry: SideEntry): void;
  /** For an entry that nobody has given an id: one that no other entry has. */
  newId(): string;
  grant(id: string): Pick<GrantRequest, "account" | "window" | "amountMicro"> | undefined;
  /** A top-up, or a deduction: of a negative amount. */
  prepaidChange(id: string): Pick<TopUpRequest, "account" | "amountMicro" | "expiresAt"> | undefined;
}

/** The caps and rates that an operation needs. */
export interface NamedRecords {
  readonly caps?: readonly { readonly id: string }[] | undefined;
  readonly rates?: readonly { readonly id: string }[] | undefined;
}

/** Whose the ids of top-ups and deductions are, in a ledger of several. */
export interface ClaimRecords extends Pick<LedgerRecords, "prepaidChange"> {
  /** Whether another account has claimed the id. `undefined`: none has. */
  isClaimedByOther(id: string, account: string): boolean | undefined;
  claim(id: string, account: string, now: number): void;
}

/** @throws LedgerConflictError where the id of a top-up or deduction is another account's. */
export function claimTopUp(claims: ClaimRecords, id: string, account: string, now: number): void {
  const earlier = claims.prepaidChange(id);
  const isOther = claims.isClaimedByOther(id, account) ?? (earlier !== undefined && earlier.account !== account);
  if (isOther) throw new LedgerConflictError(`${id} was used before with another account.`);
  claims.claim(id, account, now);
}
