import { partsPerUnit } from "../rules/rates.js";
import type { AccountCache, MadeRecords } from "./account-cache.js";
import type { AccountWork } from "./account-work.js";
import {
  areSameNumbers,
  bucketMovements,
  capMovements,
  coreMovements,
  encodeBucket,
  encodeCap,
  encodeCore,
  firstPrepaid,
  floorsOf,
  type Movement,
  type Numbered,
} from "./decoded-account.js";
import { type Add, bucketName, capName, coreName, holdName, type NewEntry } from "./ledger-storage.js";

/** How the counters of a record change whose text stays. */
export interface Addition {
  readonly by: readonly number[];
  /** What they count as now. */
  readonly from: readonly number[];
  readonly floors: readonly number[];
  readonly movements: readonly Movement[];
}

/** What operations change of an account. */
export interface Changes extends MadeRecords {
  readonly additions: ReadonlyMap<string, Addition>;
  /** Whether all that was counted is only added to. Else the commit is for one version of the account. */
  readonly onlyAdds: boolean;
  readonly removes: readonly string[];
  readonly entries: readonly NewEntry[];
  readonly absentEntries: ReadonlySet<string>;
  readonly requires: ReadonlyMap<string, string | undefined>;
  /** Names of the holds that the operations looked at. */
  readonly required: ReadonlySet<string>;
}

/** @param before - the state that the operations began with, in records. */
export function changesIn(known: AccountCache, work: AccountWork, before: RecordsBefore, now: number): Changes {
  const additions = new Map<string, Addition>();
  const puts = new Map<string, Numbered>();
  const removes: string[] = [];
  const requires = new Map([[coreName, known.stamp(coreName)]]);
  for (const name of work.required) requires.set(name, known.stamp(name));
  let onlyAdds = true;

  for (const { name, numbers, movements, floors } of changedRecords(work, before, now)) {
    const stamp = known.stamp(name);
    requires.set(name, stamp);
    const old = before.get(name);
    if (numbers !== undefined && old !== undefined && areSameNumbers(old.structure, numbers.structure)) {
      // Also where it adds nothing: the decision stands on what was counted.
      additions.set(name, additionOf(old.counters, numbers.counters, movements, floors));
      continue;
    }
    // A new cap or rate stands on no counter but its own. That it is new is required.
    if (numbers === undefined || old !== undefined || name === coreName) onlyAdds = false;
    if (numbers !== undefined) puts.set(name, numbers);
    else if (stamp !== undefined) removes.push(name);
  }
  const holds = work.changedReservations;
  for (const { reservation, change } of holds) {
    const name = holdName(reservation.id);
    const stamp = known.stamp(name);
    requires.set(name, stamp);
    if (change === "removed" && stamp !== undefined) removes.push(name);
  }
  const { entries, absentEntries, required } = work;
  return { additions, onlyAdds, puts, removes, holds, entries, absentEntries, requires, required };
}

export type RecordsBefore = ReadonlyMap<string, Numbered>;

interface ChangedRecord {
  readonly name: string;
  /** `undefined`: it is gone. */
  readonly numbers: Numbered | undefined;
  readonly movements: readonly Movement[];
  readonly floors?: readonly number[] | undefined;
}

/** The records of what is counted that operations have touched. */
function changedRecords(work: AccountWork, before: RecordsBefore, now: number): ChangedRecord[] {
  const { state, caps, buckets } = work;
  const changed: ChangedRecord[] = [];
  if (state === undefined) return changed;
  if (work.isCoreTouched || before.get(coreName) === undefined) {
    const numbers = encodeCore(state);
    changed.push({ name: coreName, numbers, movements: coreMovements(numbers.counters) });
  }
  for (const id of caps) {
    const cap = state.limits?.caps.get(id);
    changed.push({ name: capName(id), numbers: cap && encodeCap(cap), movements: capMovements });
  }
  for (const id of buckets) {
    const name = bucketName(id);
    const bucket = state.limits?.buckets.get(id);
    const numbers = bucket && encodeBucket(bucket, before.get(name), now);
    changed.push({ name, numbers, movements: bucketMovements, floors: numbers && floorsOf(numbers) });
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

/**
 * Whether operations on other counters have come to the same: the same is added, put, removed and written, and they looked at
 * the same records.
 *
 * @param work - of the other decision.
 * @param before - the records that the other decision began with.
 */
export function comesToTheSame(changes: Changes, work: AccountWork, before: RecordsBefore, now: number): boolean {
  const { additions, puts, holds, entries, required } = changes;
  if (!isAlike(work.entries, entries) || !isAlike(work.changedReservations, holds)) return false;
  if (work.required.size !== required.size) return false;
  for (const name of work.required) if (!required.has(name)) return false;
  const changed = changedRecords(work, before, now);
  return (
    changed.length === additions.size + puts.size &&
    changed.every((one) => putsTheSame(one, puts.get(one.name)) || addsTheSame(one, before, additions.get(one.name)))
  );
}

function putsTheSame({ numbers }: ChangedRecord, put: Numbered | undefined): boolean {
  if (numbers === undefined || put === undefined) return false;
  return areSameNumbers(numbers.structure, put.structure) && areSameNumbers(numbers.counters, put.counters);
}

function addsTheSame(
  { name, numbers, floors }: ChangedRecord,
  before: RecordsBefore,
  addition: Addition | undefined,
): boolean {
  const old = before.get(name);
  if (numbers === undefined || old === undefined || addition === undefined) return false;
  if (!areSameNumbers(old.structure, numbers.structure)) return false;
  const { by } = addition;
  for (let index = 0; index < by.length; index++) {
    const from = Math.max(old.counters[index] as number, floors?.[index] ?? Number.NEGATIVE_INFINITY);
    if ((numbers.counters[index] as number) - from !== by[index]) return false;
  }
  return true;
}

/** Whether two values are alike, in all that they hold. They are plain: of what JSON knows, and undefined. */
function isAlike(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  const members = one as Record<string, unknown>;
  const others = other as Record<string, unknown>;
  let count = 0;
  for (const name in members) {
    if (!isAlike(members[name], others[name])) return false;
    if (members[name] !== undefined) count++;
  }
  for (const name in others) if (others[name] !== undefined) count--;
  return count === 0;
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
const cornersOfPlan: readonly Corner[] = ends.map((end) => ({ plan: end, prepaid: end }));
const cornersWithPrepaid: readonly Corner[] = ends.flatMap((plan) => ends.map((prepaid) => ({ plan, prepaid })));

/**
 * The corners of what the counters may have become. Where prepaid credits pay what the plan has not left, more of the one may
 * do what less of the other does: so each end of the one is met by each end of the other.
 */
export function cornersOf(additions: ReadonlyMap<string, Addition>): readonly Corner[] {
  const hasPrepaid = (additions.get(coreName)?.by.length ?? 0) > firstPrepaid;
  return hasPrepaid ? cornersWithPrepaid : cornersOfPlan;
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
    moved.set(name, { structure: (records.get(name) as Numbered).structure, counters });
  }
  return moved;
}
