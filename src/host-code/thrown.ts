/** What was thrown may be anything. To look at a proxy, or at a member with a getter, may throw in turn: these do not. */

/** Whether it is an Error whose name and message can be read. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error && typeof thrown.name === "string" && typeof thrown.message === "string";
  } catch {
    return false;
  }
}

/** Its message; of what is no Error, its text. */
export function messageOf(thrown: unknown): string {
  if (isError(thrown)) return thrown.message;
  try {
    if (!(thrown instanceof Error)) return String(thrown);
  } catch {
    // It is told below.
  }
  return "Something was thrown that cannot be read.";
}

/** What was thrown, or an error in its place that can be looked at. */
export function readable(thrown: unknown): unknown {
  if (isError(thrown)) return thrown;
  try {
    if (!(thrown instanceof Error)) return thrown;
  } catch {
    // It is a proxy.
  }
  return new Error(messageOf(thrown));
}

/** An error that names its cause, and so on. */
const mostCauses = 8;

/**
 * Has the stacks of an error and its causes written. Until then V8 keeps all that took part in them, as the bytes of the
 * request, and hosts keep what they are told.
 */
export function writeStacks(thrown: unknown): void {
  try {
    let error = thrown;
    for (let depth = 0; depth < mostCauses && error instanceof Error; depth++) {
      void error.stack;
      error = error.cause;
    }
  } catch {
    // It is a proxy.
  }
}
