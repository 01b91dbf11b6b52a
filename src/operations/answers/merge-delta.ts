import { isRecord } from "../../wire/is-record.js";

/** An object that grows by deltas. It has no prototype, so that no name of a member means anything else. */
export type Merged = Record<string, unknown>;

export function emptyMerged(): Merged {
  return Object.create(null) as Merged;
}

/** Members that do not grow: the latest one counts. */
const fixed: ReadonlySet<string> = new Set(["type", "role", "id"]);

/** Adds a delta as clients do: texts grow, and elements of lists belong together by their `index`. */
export function mergeDelta(into: Merged, delta: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(delta)) into[name] = grown(into[name], value, name);
}

function grown(before: unknown, value: unknown, name: string): unknown {
  if (value === null || value === undefined) return before ?? value;
  if (typeof value === "string" && typeof before === "string" && !fixed.has(name)) return before + value;
  if (Array.isArray(value)) return extended(Array.isArray(before) ? before : [], value);
  if (!isRecord(value)) return value;
  const merged = isRecord(before) ? before : emptyMerged();
  mergeDelta(merged, value);
  return merged;
}

function extended(list: unknown[], pieces: readonly unknown[]): unknown[] {
  for (const [at, piece] of pieces.entries()) {
    const before = isRecord(piece) ? continuedBy(list, piece, at === 0) : undefined;
    if (before === undefined || !isRecord(piece)) list.push(grown(undefined, piece, ""));
    else mergeDelta(before, piece);
  }
  return list;
}

/** Without indices, the first part of a delta goes on with the last one of its type. */
function continuedBy(list: readonly unknown[], piece: Merged, isFirst: boolean): Merged | undefined {
  const { index, type } = piece;
  if (Number.isInteger(index)) {
    return list.findLast((element): element is Merged => isRecord(element) && element["index"] === index);
  }
  const last = list.at(-1);
  return isFirst && isRecord(last) && last["index"] === undefined && last["type"] === type ? last : undefined;
}
