// What the oracle adds up from journals: the lots of prepaid credits, and the level of a bucket.

export type PrepaidEvent =
  | { kind: "topup"; amount: number; expiresAt: number }
  | { kind: "charge"; amount: number; admittedAt: number }
  | { kind: "lapse"; at: number };

interface Pile {
  expiresAt: number;
  amount: number;
}

/** What is left, sorted by expiry, and what is overdrawn. */
export function foldPrepaid(events: readonly PrepaidEvent[]): { piles: Pile[]; overdrawn: number } {
  let piles: Pile[] = [];
  let overdrawn = 0;
  const add = (amount: number, expiresAt: number) => {
    const paid = Math.min(overdrawn, amount);
    overdrawn -= paid;
    if (amount > paid) piles.push({ expiresAt, amount: amount - paid });
  };
  for (const event of events) {
    piles.sort((a, b) => a.expiresAt - b.expiresAt);
    if (event.kind === "topup") add(event.amount, event.expiresAt);
    else if (event.kind === "lapse") piles = piles.filter(({ expiresAt }) => expiresAt > event.at);
    else if (event.amount < 0) add(-event.amount, piles[0]?.expiresAt ?? Number.MAX_SAFE_INTEGER);
    else {
      for (let left = event.amount; left > 0; left--) {
        const pile = piles.find(({ expiresAt, amount }) => expiresAt > event.admittedAt && amount > 0);
        if (pile) pile.amount--;
        else overdrawn++;
      }
      piles = piles.filter(({ amount }) => amount > 0);
    }
  }
  return { piles: piles.sort((a, b) => a.expiresAt - b.expiresAt), overdrawn };
}

export interface BucketEvent {
  at: number;
  /** In whole requests or tokens; negative: taken. */
  change: number;
  limit: number;
  burst: number;
  /** Whether the bucket is cut to a new limit first. */
  isReservation: boolean;
  /** What open leases had taken before. */
  heldBefore: number;
}

/** The level at a moment, in parts of 1/60,000. */
export function foldLevel(events: readonly BucketEvent[], now: number, burst: number, held: number): number {
  const { level, most } = fold(events, now);
  return held === 0 && level >= most * 60_000 ? burst * 60_000 : Math.min(level, burst * 60_000);
}

/** Whether the bucket is full by its own limit, so that it is as if never used where no call has taken anything. */
export function isFull(events: readonly BucketEvent[], now: number): boolean {
  const { level, most } = fold(events, now);
  return level >= most * 60_000;
}

function fold(events: readonly BucketEvent[], now: number): { level: number; most: number } {
  let level = Number.POSITIVE_INFINITY;
  let [at, limit, most] = [now, 0, Number.POSITIVE_INFINITY];
  for (const event of events) {
    const moment = momentAfter(at, event.at);
    level = Math.min(level + Math.max(0, moment - at) * limit, most * 60_000);
    at = moment;
    if (event.isReservation) {
      if (level >= most * 60_000 && event.heldBefore === 0) [level, at] = [Number.POSITIVE_INFINITY, event.at];
      most = event.burst;
      limit = event.limit;
      level = Math.min(level, most * 60_000);
    }
    level = Math.min(level + event.change * 60_000, most * 60_000);
  }
  return { level: Math.min(level + Math.max(0, momentAfter(at, now) - at) * limit, most * 60_000), most };
}

/** A step back by a second at the most is no step: another process has a clock that is ahead. */
function momentAfter(at: number, next: number): number {
  return next < at && next >= at - 1_000 ? at : next;
}
