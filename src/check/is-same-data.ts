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
