import { type AdmittedWindows, newInstance, noInstances, type WindowInstance } from "../account-state.js";
import { LedgerUnavailableError } from "../credit-ledger.js";
import type { AccountState, StoredReservation } from "../engine/ledger-records.js";
import { type AccountLimits, copyLimits } from "../limits/account-limits.js";
import type { Prepaid } from "../limits/prepaid.js";
import { type Bucket, filledBucket, fullAtOf, levelOf } from "../limits/rates.js";

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

/** A record in the form in which it is compared and stored. */
export interface Encoded {
  readonly text: string;
  readonly counters: readonly number[];
}

const ofWindow: readonly Movement[] = ["rises", "both"];
const ofPrepaid: readonly Movement[] = ["both", "rises"];

/** Where the counters of prepaid credits begin in a core. */
export const firstPrepaid = 6;

export function coreMovements({ length }: readonly number[]): readonly Movement[] {
  const all: Movement[] = [...ofWindow, ...ofWindow, ...ofWindow, ...ofPrepaid];
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

export function encodeCore({ session, week, month, limits }: AccountState): Encoded {
  const prepaid = limits?.prepaid;
  const text = JSON.stringify([
    engineVersion,
    ...[session, week, month].map(({ start, end, bonus }) => [start, end, bonus]),
    prepaid === undefined ? null : prepaid.lots.map(({ expiresAt }) => expiresAt),
  ]);
  const counters = [session.used, session.held, week.used, week.held, month.used, month.held];
  if (prepaid === undefined) return { text, counters };
  return { text, counters: [...counters, prepaid.held, prepaid.overdrawn, ...prepaid.lots.map(({ left }) => left)] };
}

type CoreText = readonly [version: number, WindowText, WindowText, WindowText, readonly number[] | null];
/** JSON has no infinities: an instance that never was has neither a start nor an end. */
type WindowText = readonly [start: number | null, end: number | null, bonus: number];

/** @throws LedgerUnavailableError for an account of another release's. */
export function decodeCore(account: DecodedAccount, { text, counters }: Encoded): void {
  const [version, session, week, month, expiries]: CoreText = JSON.parse(text);
  if (version !== engineVersion) {
    throw new LedgerUnavailableError(
      `The account was changed by another release (${version}, and this one knows ${engineVersion}). Update this process.`,
    );
  }
  account.session = decodeWindow(session, counters, 0);
  account.week = decodeWindow(week, counters, 2);
  account.month = decodeWindow(month, counters, 4);
  if (expiries === null) return;
  const prepaid: Prepaid = {
    held: counters[6] ?? 0,
    overdrawn: counters[7] ?? 0,
    lots: expiries.map((expiresAt, index) => ({ expiresAt, left: counters[8 + index] ?? 0 })),
  };
  account.limits = { caps: new Map(), buckets: new Map(), ...account.limits, prepaid };
}

function decodeWindow([start, end, bonus]: WindowText, counters: readonly number[], at: number): WindowInstance {
  if (start === null || end === null) return noInstances.session;
  const instance = newInstance(start, end);
  instance.bonus = bonus;
  instance.used = counters[at] ?? 0;
  instance.held = counters[at + 1] ?? 0;
  return instance;
}

export function encodeCap({ start, end, used, held }: WindowInstance): Encoded {
  return { text: JSON.stringify([start, end]), counters: [used, held] };
}

export function decodeCap({ text, counters: [used = 0, held = 0] }: Encoded): WindowInstance {
  const [start, end]: [number, number] = JSON.parse(text);
  const cap = newInstance(start, end);
  cap.used = used;
  cap.held = held;
  return cap;
}

/** Beyond this a product of milliseconds and a rate is moved back to a new origin, long before it is no safe integer. */
const mostParts = 2 ** 51;

/**
 * A bucket gains with time, so its level is no counter. The moment at which it will be full is one, in parts since an origin:
 * what is taken puts it off, and it never lies before now. The last counter is when it was looked at last. Where the clock
 * has been put back since, the bucket is another one.
 */
export function encodeBucket(bucket: Bucket, known: Encoded | undefined, now: number): Encoded {
  const { limit, burst, held } = bucket;
  const [knownLimit, knownBurst, knownOrigin]: BucketText =
    known === undefined ? [-1, -1, now] : JSON.parse(known.text);
  const isBehind = known !== undefined && (known.counters[2] ?? now) > now;
  const isFar = (now - knownOrigin) * limit >= mostParts;
  const isSame = knownLimit === limit && knownBurst === burst && !isBehind && !isFar;
  const origin = isSame ? knownOrigin : now;
  // What an operation has left as it was may be far behind a new origin.
  const current = isSame ? bucket : filledBucket(bucket, now);
  // An origin that comes again would not tell it from the one before.
  const text = JSON.stringify([limit, burst, origin, ...(isBehind ? [known.counters[2]] : [])]);
  return { text, counters: [fullAtOf(current, origin), held, current.at] };
}

type BucketText = readonly [limit: number, burst: number, origin: number];

export function decodeBucket({ text, counters: [fullAt = 0, held = 0, at = 0] }: Encoded): Bucket {
  const [limit, burst, origin]: BucketText = JSON.parse(text);
  return { level: levelOf({ at, limit, burst }, origin, fullAt), at, held, limit, burst };
}

/** What the counters of a bucket count as at the least. */
export function floorsOf({ text }: Encoded, now: number): readonly number[] {
  const [limit, , origin]: BucketText = JSON.parse(text);
  return [(now - origin) * limit, Number.NEGATIVE_INFINITY, now];
}

export function encodeReservation({ index: _, ...reservation }: StoredReservation): string {
  return JSON.stringify(reservation);
}

export function decodeReservation(text: string): StoredReservation {
  const reservation: Omit<StoredReservation, "index"> = JSON.parse(text);
  const { part, tags } = reservation;
  // JSON has no undefined.
  return { ...reservation, part: part && { ...part, prepaidAt: part.prepaidAt }, tags, index: -1 };
}
