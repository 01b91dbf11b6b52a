/** A value, or a promise where it has to be waited for. */
export type Soon<Value> = Value | Promise<Value>;

/** Goes on with a value: at once where it is there, which makes no promise. */
export function andThen<Value, Next>(value: Soon<Value>, next: (value: Value) => Soon<Next>): Soon<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
