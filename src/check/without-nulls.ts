import { isPlain } from "./is-same-data.js";

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
