import { partsPerUnit } from "../limits/rates.js";
import type { AccountCache } from "./account-cache.js";
import type { AccountWork } from "./account-work.js";
import {
  bucketMovements,
  capMovements,
  coreMovements,
  type Encoded,
  encodeBucket,
  encodeCap,
  encodeCore,
  encodeReservation,
  firstPrepaid,
  floorsOf,
  type Movement,
} from "./decoded-account.js";
import { type Add, bucketName, type Commit, capName, coreName, holdName, type Put } from "./ledger-storage.js";

/** How the counters of a record change whose text stays. */
export interface Addition {
  readonly by: readonly number[];
  /** What they count as now. */
  readonly from: readonly number[];
  readonly floors: readonly number[];
  readonly movements: readonly Movement[];
}

/** What operations change of an account. */
export interface Changes {
  readonly additions: ReadonlyMap<string, Addition>;
  /** Whether all that is counted is only added to. Else the commit is for one version of the account. */
  readonly onlyAdds: boolean;
  readonly commit: Omit<Commit, "version" | "expected" | "adds" | "sums">;
}

/** @param before - the state that the operations began with, in records. */
export function changesIn(known: AccountCache, work: AccountWork, before: RecordsBefore, now: number): Changes {
  const additions = new Map<string, Addition>();
  const puts = new Map<string, Put>();
  const removes: string[] = [];
  const requires = new Map<string, string | undefined>([[coreName, known.record(coreName)?.stamp]]);
  for (const name of work.required) requires.set(name, known.record(name)?.stamp);
  let onlyAdds = true;

  for (const { name, encoded, movements, floors } of changedRecords(work, before, now)) {
    const stamp = known.record(name)?.stamp;
    requires.set(name, stamp);
    const old = before.get(name);
    if (encoded !== undefined && old?.text === encoded.text) {
      // Also where it adds nothing: the decision stands on what was counted.
      additions.set(name, additionOf(old.counters, encoded.counters, movements, floors));
      continue;
    }
    onlyAdds = false;
    if (encoded !== undefined) puts.set(name, { ...encoded, due: undefined });
    else if (stamp !== undefined) removes.push(name);
  }
  for (const { reservation, change: what } of work.changedReservations) {
    const name = holdName(reservation.id);
    requires.set(name, known.record(name)?.stamp);
    if (what === "put") {
      const due = reservation.state === "hold" ? reservation.expiresAt : undefined;
      puts.set(name, { text: encodeReservation(reservation), counters: [], due });
    } else if (known.record(name) !== undefined) removes.push(name);
  }
  const { entries } = work;
  const absentEntries = [...work.absentEntries];
  return { additions, onlyAdds, commit: { account: known.id, requires, absentEntries, puts, removes, entries, now } };
}

export type RecordsBefore = ReadonlyMap<string, Encoded>;

interface ChangedRecord {
  readonly name: string;
  /** `undefined`: it is gone. */
  readonly encoded: Encoded | undefined;
  readonly movements: readonly Movement[];
  readonly floors?: readonly number[] | undefined;
}

/** The records of what is counted that operations have touched. */
function changedRecords(work: AccountWork, before: RecordsBefore, now: number): ChangedRecord[] {
  const { state, caps, buckets } = work;
  const changed: ChangedRecord[] = [];
  if (state === undefined) return changed;
  if (work.isCoreTouched || before.get(coreName) === undefined) {
    const encoded = encodeCore(state);
    changed.push({ name: coreName, encoded, movements: coreMovements(encoded.counters) });
  }
  for (const id of caps) {
    const cap = state.limits?.caps.get(id);
    changed.push({ name: capName(id), encoded: cap && encodeCap(cap), movements: capMovements });
  }
  for (const id of buckets) {
    const name = bucketName(id);
    const bucket = state.limits?.buckets.get(id);
    const encoded = bucket && encodeBucket(bucket, before.get(name), now);
    changed.push({ name, encoded, movements: bucketMovements, floors: encoded && floorsOf(encoded, now) });
  }
  return changed;
}

function additionOf(
  old: readonly number[],
  counters: readonly number[],
  movements: readonly Movement[],
  given: readonly number[] = [],
): Addition {
  const floors = counters.map((_, index) => given[index] ?? Number.NEGATIVE_INFINITY);
  const from = old.map((counter, index) => Math.max(counter, floors[index] as number));
  return { by: counters.map((counter, index) => counter - (from[index] as number)), from, floors, movements };
}

/** Whether two decisions change the same: the same is put, removed, added and written. */
export function areSame(one: Changes, other: Changes): boolean {
  return fingerprint(one) === fingerprint(other);
}

function fingerprint({ additions, commit: { puts, removes, entries, requires } }: Changes): string {
  return JSON.stringify([
    [...additions].map(([name, { by }]) => [name, by]),
    [...puts],
    removes,
    entries,
    [...requires.keys()],
  ]);
}

/** How far counters may be from what this process knows, either way. */
export interface Margins {
  readonly up: readonly number[];
  readonly down: readonly number[];
}

/**
 * How far the counters of an addition may have moved meanwhile, so that `times` as much as it changes itself fits in. Those
 * that only turn by corrections may not have turned.
 */
export function marginsOf(addition: Addition, times: number, least: number): Margins {
  const { by, floors, movements } = addition;
  const [first = 0, second = 0] = by.map(Math.abs);
  const isBucket = floors.some(Number.isFinite);
  const largest = Math.max(least, ...by.map(Math.abs));
  // Of a bucket, the first counts parts, and the second whole tokens or calls.
  const scales = [Math.max(first, partsPerUnit * Math.max(1, second)), Math.max(1, second), 0];
  const margin = by.map((_, index) => times * (isBucket ? (scales[index] as number) : largest));
  const down = margin.map((most, index) => downTo(addition, index, most));
  const isFixed = (index: number, turns: Movement) => movements[index] === turns || movements[index] === "free";
  return {
    up: margin.map((most, index) => (isFixed(index, "falls") ? 0 : most)),
    down: down.map((most, index) => (isFixed(index, "rises") ? 0 : most)),
  };
}

/** What is counted is not less than nothing, neither before nor after, nor than its floor. */
function downTo({ by, from, floors }: Addition, index: number, most: number): number {
  const [counter, change, floor] = [from[index] as number, by[index] as number, floors[index] as number];
  return Math.min(
    most,
    Math.max(0, floor === -Infinity ? counter + Math.min(0, change) : counter - Math.max(0, floor)),
  );
}

export function toAdds({ by, from, floors, movements }: Addition, margins: Margins | undefined): readonly Add[] {
  return by.map((one, index) => {
    const [counter, floor] = [from[index] as number, floors[index] as number];
    if (margins === undefined || movements[index] === "free")
      return { by: one, least: -Infinity, most: Infinity, floor };
    const least = counter - (margins.down[index] as number);
    return { by: one, least, most: counter + (margins.up[index] as number), floor };
  });
}

type End = "least left" | "most left";

/** An end for what the plan has left, and one for what is left of prepaid credits. */
export interface Corner {
  readonly plan: End;
  readonly prepaid: End;
}

const ends: readonly End[] = ["least left", "most left"];

/**
 * The corners of what the counters may have become. Where prepaid credits pay what the plan has not left, more of the one may
 * do what less of the other does: so each end of the one is met by each end of the other.
 */
export function cornersOf(additions: ReadonlyMap<string, Addition>): readonly Corner[] {
  const hasPrepaid = (additions.get(coreName)?.by.length ?? 0) > firstPrepaid;
  return ends.flatMap((plan) => (hasPrepaid ? ends : [plan]).map((prepaid) => ({ plan, prepaid })));
}

/** The records with their counters in a corner of their margins. */
export function inCorner(
  records: RecordsBefore,
  margins: ReadonlyMap<string, Margins>,
  additions: ReadonlyMap<string, Addition>,
  corner: Corner,
): RecordsBefore {
  const moved = new Map(records);
  for (const [name, { up, down }] of margins) {
    const { from, movements } = additions.get(name) as Addition;
    const counters = from.map((counter, index) => {
      const end = name === coreName && index >= firstPrepaid ? corner.prepaid : corner.plan;
      const isUp = (end === "least left") !== (movements[index] === "falls");
      return isUp ? counter + (up[index] as number) : counter - (down[index] as number);
    });
    moved.set(name, { ...(records.get(name) as Encoded), counters });
  }
  return moved;
}
