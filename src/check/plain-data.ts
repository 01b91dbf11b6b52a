/**
 * Whether two values hold the same: objects and lists member by member, everything else by identity, functions too. A
 * member that is `undefined` counts as absent.
 */
export function isSameData(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, place) => isSameData(value, other[place]));
  }
  if (!isPlain(one) || !isPlain(other)) return false;
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => isSameData(one[name], other[name]));
}

/** Whether it is an object of members: no list, and of no class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A record without members that are `null`, at any depth of objects. */
export type WithoutNulls<Value> = Value extends Date | readonly unknown[]
  ? Value
  : Value extends object
    ? { [Name in keyof Value]: WithoutNulls<Exclude<Value[Name], null>> }
    : Value;

/** A copy without members that are `null` or `undefined`, at any depth of objects: every store gives back the same then. */
export function withoutNulls<Value>(value: Value): WithoutNulls<Value> {
  if (!isPlain(value)) return value as WithoutNulls<Value>;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)])) as WithoutNulls<Value>;
}

/** The same within the members of a change: of itself, a member that is `null` takes one away. */
export function withoutInnerNulls<Change extends object>(change: Change): Change {
  return Object.fromEntries(Object.entries(change).map(([name, member]) => [name, withoutNulls(member)])) as Change;
}

const deepest = 32;

/**
 * Why JSON cannot keep a value as it is: where, and what stands there. Members that are `undefined` count as absent.
 * @returns `undefined` when it can.
 */
export function dataProblem(value: unknown, path: readonly (string | number)[] = []): string | undefined {
  const problem = ownProblem(value, path.length);
  if (problem !== undefined) return path.length === 0 ? problem : `${path.join(".").slice(0, 200)}: ${problem}`;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const isAbsent = member === undefined && !Array.isArray(value);
    const found = isAbsent ? undefined : dataProblem(member, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ownProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === "function") return "must be JSON data, which has no functions";
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "must be a finite number";
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (depth > deepest) return `must be nested at most ${deepest} levels deep`;
  return Array.isArray(value) || isPlain(value) ? undefined : "must be JSON data";
}
