import { LedgerUnavailableError, type WindowName } from "../credit-ledger.js";
import type { AccountState, StoredReservation } from "../engine/ledger-records.js";
import { type AccountLimits, copyLimits, type HeldLimits } from "../rules/account-limits.js";
import type { Prepaid } from "../rules/prepaid.js";
import { type Bucket, filledBucket, fullAtOf, levelOf, noUses } from "../rules/rates.js";
import type { Receipt } from "../rules/reservation.js";
import { type AdmittedWindows, newInstance, noInstances, type WindowInstance } from "../rules/windows.js";

/** An account as a process knows it: the newest state of its core, and of the caps and rates that were read. */
export class DecodedAccount implements AccountState {
  readonly id: string;
  session = noInstances.session;
  week = noInstances.week;
  month = noInstances.month;
  limits: AccountLimits | undefined;
  admission: AdmittedWindows | undefined;

  constructor(id: string) {
    this.id = id;
  }

  copy(): DecodedAccount {
    const account = new DecodedAccount(this.id);
    account.session = copyOf(this.session);
    account.week = copyOf(this.week);
    account.month = copyOf(this.month);
    account.limits = this.limits && copyLimits(this.limits);
    account.admission = this.admission;
    return account;
  }
}

function copyOf(instance: WindowInstance): WindowInstance {
  return instance === noInstances.session ? instance : { ...instance };
}

/**
 * How the counters of a record move, in their order: `rises` and `falls` only turn by corrections, which are rare; of one that
 * is `free`, nothing is decided.
 */
export type Movement = "rises" | "falls" | "both" | "free";

/** A record as numbers: of two records with the same structure, only what is counted differs. */
export interface Numbered {
  readonly structure: readonly number[];
  readonly counters: readonly number[];
}

/** The text of a record's structure. JSON has no infinities: they are null. */
export function structureText(structure: readonly number[]): string {
  return JSON.stringify(structure);
}

export function structureOf(text: string): readonly number[] {
  const numbers: readonly (number | null)[] = JSON.parse(text);
  return numbers.map((number) => number ?? Number.NEGATIVE_INFINITY);
}

export function areSameNumbers(one: readonly number[], other: readonly number[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}

const ofWindow: readonly Movement[] = ["rises", "both"];
const ofPrepaid: readonly Movement[] = ["both", "rises"];

/** Where the counters of prepaid credits begin in a core. */
export const firstPrepaid = 6;

const ofWindows: readonly Movement[] = [...ofWindow, ...ofWindow, ...ofWindow];

export function coreMovements({ length }: readonly number[]): readonly Movement[] {
  if (length === firstPrepaid) return ofWindows;
  const all: Movement[] = [...ofWindows, ...ofPrepaid];
  while (all.length < length) all.push("falls");
  return all;
}

export const capMovements = ofWindow;
export const bucketMovements: readonly Movement[] = ["both", "both", "free"];

/**
 * What the text of a core begins with. A release whose rules read or write accounts in another way takes the next number, so
 * that processes of the release before leave those accounts alone.
 */
const engineVersion = 1;

/** Engine's version, three numbers of each window, and the ends of the lots after whether there are prepaid credits. */
const prepaidIndex = 10;

export function encodeCore({ session, week, month, limits }: AccountState): Numbered {
  const prepaid = limits?.prepaid;
  const structure = [
    ...[engineVersion, session.start, session.end, session.bonus, week.start, week.end, week.bonus],
    ...[month.start, month.end, month.bonus, prepaid === undefined ? 0 : 1],
  ];
  const counters = [session.used, session.held, week.used, week.held, month.used, month.held];
  if (prepaid === undefined) return { structure, counters };
  for (const { expiresAt } of prepaid.lots) structure.push(expiresAt);
  counters.push(prepaid.held, prepaid.overdrawn);
  for (const { left } of prepaid.lots) counters.push(left);
  return { structure, counters };
}

/** @throws LedgerUnavailableError for an account of another release's. */
export function requireKnownVersion([version]: readonly number[]): void {
  if (version === engineVersion) return;
  throw new LedgerUnavailableError(
    `The account was changed by another release (${version}, and this one knows ${engineVersion}). Update this process.`,
  );
}

export function decodeCore(account: DecodedAccount, { structure, counters }: Numbered): void {
  account.session = decodeWindow(structure, counters, 0);
  account.week = decodeWindow(structure, counters, 1);
  account.month = decodeWindow(structure, counters, 2);
  if (structure[prepaidIndex] === 0) return;
  const prepaid: Prepaid = {
    held: counters[firstPrepaid] ?? 0,
    overdrawn: counters[firstPrepaid + 1] ?? 0,
    lots: structure
      .slice(prepaidIndex + 1)
      .map((expiresAt, index) => ({ expiresAt, left: counters[firstPrepaid + 2 + index] ?? 0 })),
  };
  account.limits = { caps: new Map(), buckets: new Map(), ...account.limits, prepaid };
}

function decodeWindow(structure: readonly number[], counters: readonly number[], window: number): WindowInstance {
  const [start, end, bonus] = [structure[1 + 3 * window], structure[2 + 3 * window], structure[3 + 3 * window]];
  if (start === undefined || end === undefined || start === Number.NEGATIVE_INFINITY) return noInstances.session;
  const instance = newInstance(start, end);
  instance.bonus = bonus ?? 0;
  instance.used = counters[2 * window] ?? 0;
  instance.held = counters[2 * window + 1] ?? 0;
  return instance;
}

export function encodeCap({ start, end, used, held }: WindowInstance): Numbered {
  return { structure: [start, end], counters: [used, held] };
}

export function decodeCap({
  structure: [start = 0, end = 0],
  counters: [used = 0, held = 0],
}: Numbered): WindowInstance {
  const cap = newInstance(start, end);
  cap.used = used;
  cap.held = held;
  return cap;
}

/** Beyond this a product of milliseconds and a rate is moved back to a new origin, long before it is no safe integer. */
const mostParts = 2 ** 51;

/**
 * A bucket gains with time, so its level is no counter. The moment at which it will be full is one, in parts since an origin:
 * what is taken puts it off, and it never lies before now. The last counter is when it was looked at last. Where that becomes
 * an earlier moment, since a clock was put back, the bucket is another one.
 */
export function encodeBucket(bucket: Bucket, known: Numbered | undefined, now: number): Numbered {
  const { limit, burst, held } = bucket;
  const [knownLimit, knownBurst, knownOrigin = now] = known?.structure ?? [];
  const lookedAt = known?.counters[2] ?? bucket.at;
  const isBehind = lookedAt > bucket.at;
  const isFar = (now - knownOrigin) * limit >= mostParts;
  const isSame = knownLimit === limit && knownBurst === burst && !isBehind && !isFar;
  const origin = isSame ? knownOrigin : now;
  // What an operation has left as it was may be far behind a new origin.
  const current = isSame ? bucket : filledBucket(bucket, now);
  const counters = [fullAtOf(current, origin), held, current.at];
  // An origin that comes again would not tell it from the one before.
  if (isBehind) return { structure: [limit, burst, origin, lookedAt], counters };
  return { structure: [limit, burst, origin, ...(isSame ? (known?.structure.slice(3) ?? []) : [])], counters };
}

export function decodeBucket({ structure, counters: [fullAt = 0, held = 0, at = 0] }: Numbered): Bucket {
  const [limit = 0, burst = 0, origin = 0] = structure;
  return { level: levelOf({ at, limit, burst }, origin, fullAt), at, held, limit, burst };
}

/** What the counters of a bucket count as at the least. */
export function floorsOf({
  structure: [limit = 0, , origin = 0],
  counters: [, , at = 0],
}: Numbered): readonly number[] {
  return [(at - origin) * limit, Number.NEGATIVE_INFINITY, at];
}

type ReservationText = readonly [
  state: 0 | 1,
  account: string,
  amounts: readonly [amountMicro: number, held: number, checkpoint: number, paid: number],
  expiresAt: readonly [first: number, now: number],
  windows: readonly (readonly [start: number, end: number, limitMicro: number | null])[],
  part: HeldLimits | 0,
  uses: StoredReservation["uses"] | 0,
  tags: Exclude<StoredReservation["tags"], undefined> | 0,
];

/** Without its id, which is its name. */
export function encodeReservation(reservation: StoredReservation): string {
  const { state, receipt, limits, held, checkpoint, paid, expiresAt, part, uses, tags } = reservation;
  const { account, amountMicro, starts, ends } = receipt;
  const text: ReservationText = [
    state === "hold" ? 0 : 1,
    account,
    [amountMicro, held, checkpoint, paid],
    [receipt.expiresAt, expiresAt],
    [windowText("session"), windowText("week"), windowText("month")],
    part ?? 0,
    uses.length === 0 ? 0 : uses,
    tags ?? 0,
  ];
  return JSON.stringify(text);

  function windowText(window: WindowName): ReservationText[4][number] {
    return [starts[window], ends[window], limits[window].limitMicro];
  }
}

export function decodeReservation(id: string, text: string): StoredReservation {
  const [state, account, [amountMicro, held, checkpoint, paid], expiries, windows, part, uses, tags]: ReservationText =
    JSON.parse(text);
  const [session, week, month] = windows as [Window, Window, Window];
  const starts = { session: session[0], week: week[0], month: month[0] };
  const ends = { session: session[1], week: week[1], month: month[1] };
  return {
    ...{ id, state: state === 0 ? "hold" : "expired", held, checkpoint, paid, expiresAt: expiries[1] },
    receipt: { account, amountMicro, expiresAt: expiries[0], starts, ends },
    limits: {
      session: { limitMicro: session[2] },
      week: { limitMicro: week[2] },
      month: { limitMicro: month[2] },
    },
    // JSON has no undefined.
    part: part === 0 ? undefined : { ...part, prepaidAt: part.prepaidAt },
    ...{ uses: uses === 0 ? noUses : uses, tags: tags === 0 ? undefined : tags, index: -1 },
  };
}

type Window = ReservationText[4][number];

type ReceiptText = readonly [amountMicro: number, expiresAt: number, starts: Three, ends: Three, prepaidMicro: number];
type Three = readonly [session: number, week: number, month: number];

/** A receipt in few bytes, without its account. */
export function encodeReceipt({ amountMicro, expiresAt, starts, ends, prepaidMicro }: Receipt): string {
  const text: ReceiptText = [
    amountMicro,
    expiresAt,
    [starts.session, starts.week, starts.month],
    [ends.session, ends.week, ends.month],
    prepaidMicro ?? 0,
  ];
  return JSON.stringify(text);
}

export function decodeReceipt(account: string, text: string): Receipt {
  const [amountMicro, expiresAt, starts, ends, prepaidMicro]: ReceiptText = JSON.parse(text);
  return {
    ...{ account, amountMicro, expiresAt, starts: byWindow(starts), ends: byWindow(ends) },
    ...(prepaidMicro !== 0 && { prepaidMicro }),
  };
}

function byWindow([session, week, month]: Three): Receipt["starts"] {
  return { session, week, month };
}
