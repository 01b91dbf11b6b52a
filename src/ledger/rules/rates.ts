import { mostSkewMs } from "../calendar.js";
import type { BlockedRate, RateKind, RateLimit, RateState, RateUse } from "../limits.js";
import { heldRetryMs } from "./windows.js";

/** A bucket counts in parts of a request or token, so that a minute's limit comes in whole parts each millisecond. */
export const partsPerUnit = 60_000;
const concurrentRetryMs = 1_000;

/** The level of a rate's bucket at a moment, in parts. */
export interface Bucket {
  level: number;
  at: number;
  /** What open leases have taken, in whole tokens, or their number for `concurrent`. Of requests 0. */
  held: number;
  /** Of the latest reservation. */
  limit: number;
  burst: number;
}

/** The bucket as it is now, by the limit of the reservation. Changes nothing. */
export function bucketAt(stored: Bucket | undefined, { limit, burst }: RateLimit, now: number): Bucket {
  if (stored === undefined || isIdle(stored, now))
    return { level: burst * partsPerUnit, at: now, held: 0, limit, burst };
  const bucket = filledBucket(stored, now);
  return { ...bucket, level: Math.min(bucket.level, burst * partsPerUnit), limit, burst };
}

/**
 * The bucket as it is now, by its own limit. Where it was looked at a little later than now, it was by another process, whose
 * clock is ahead: it is that moment still. A clock that was put back by more fills nothing, and goes on from there.
 */
export function filledBucket(bucket: Bucket, now: number): Bucket {
  const { level, limit, burst } = bucket;
  const at = bucket.at > now && bucket.at - now <= mostSkewMs ? bucket.at : now;
  return { ...bucket, level: Math.min(level + Math.max(0, at - bucket.at) * limit, burst * partsPerUnit), at };
}

/** Whether it is as good as unknown: full, and no lease has taken anything of it. */
export function isIdle(bucket: Bucket, now: number): boolean {
  return bucket.held === 0 && filledBucket(bucket, now).level >= bucket.burst * partsPerUnit;
}

/** When the bucket will be full by its own limit, in parts since an origin. What is full for long is earlier than now. */
export function fullAtOf({ level, at, limit, burst }: Omit<Bucket, "held">, origin: number): number {
  return (at - origin) * limit + burst * partsPerUnit - level;
}

/** The level at a moment of a bucket that will be full then. */
export function levelOf(
  { at, limit, burst }: Pick<Bucket, "at" | "limit" | "burst">,
  origin: number,
  fullAt: number,
): number {
  return (at - origin) * limit + burst * partsPerUnit - fullAt;
}

/** Why the bucket denies a reservation, if it does. */
export function blockedRate({ level, at, held }: Bucket, rate: RateLimit, now: number): BlockedRate | undefined {
  const { id, kind, limit, take } = rate;
  if (kind === "concurrent") {
    if (held + take <= limit) return undefined;
    return { id, kind, limit, cause: "held", availableAt: limit === 0 ? null : now + concurrentRetryMs };
  }
  const need = kind === "requests" ? take * partsPerUnit : 1;
  if (level >= need) return undefined;
  if (limit === 0) return { id, kind, limit, cause: "used", availableAt: null };
  const waitMs = at - now + Math.ceil((need - level) / limit);
  if (level + held * partsPerUnit < need) return { id, kind, limit, cause: "used", availableAt: now + waitMs };
  return { id, kind, limit, cause: "held", availableAt: now + Math.min(waitMs, heldRetryMs) };
}

/** Takes what a call may need. */
export function takeFrom(bucket: Bucket, { kind, take }: RateLimit): void {
  if (kind !== "concurrent") bucket.level = boundedLevel(bucket.level - take * partsPerUnit);
  if (kind !== "requests") bucket.held += take;
}

/** What is owed beyond the safe integers is not counted. */
function boundedLevel(level: number): number {
  return Math.max(level, Number.MIN_SAFE_INTEGER);
}

/** A lease's part of a bucket, as it ends. */
interface EndedTake {
  readonly kind: RateKind;
  readonly taken: number;
  /** What it has really used. The difference goes back, or is taken too. */
  readonly actual: number;
}

export function endTake(bucket: Bucket, { kind, taken, actual }: EndedTake, now: number): void {
  if (kind !== "requests") bucket.held -= taken;
  if (kind === "concurrent") return;
  const { level, at } = filledBucket(bucket, now);
  bucket.at = at;
  // What exceeds the burst is cut wherever the level is read.
  bucket.level = boundedLevel(level + (taken - actual) * partsPerUnit);
}

export function rateState({ level, held }: Bucket, { id, kind, limit, burst }: RateLimit): RateState {
  if (kind === "concurrent") return { id, kind, limit, remaining: Math.max(0, limit - held), fullInMs: 0 };
  const fullInMs = limit === 0 ? 0 : Math.ceil((burst * partsPerUnit - level) / limit);
  return { id, kind, limit, remaining: Math.max(0, Math.floor(level / partsPerUnit)), fullInMs };
}

/** A call that corrects no rate. */
export const noUses: readonly RateUse[] = Object.freeze([]);
