/**
 * Calls the host's code. It may be async in spite of its type, and its rejection must not end the process.
 * @param failed - gets what it throws, and what its promise rejects with. Must not throw.
 */
export function callHook(call: () => unknown, failed: (cause: unknown) => void): void {
  void hookWork(call, failed);
}

/** As {@link callHook}. @returns what of an async hook goes on. It does not reject. */
export function hookWork(call: () => unknown, failed: (cause: unknown) => void): Promise<unknown> | undefined {
  try {
    const result = call();
    if (result !== undefined) return Promise.resolve(result).catch(failed);
  } catch (cause) {
    failed(cause);
  }
  return undefined;
}

/**
 * What the host's code has returned. Nobody waits for a promise of it: that counts as nothing, and is told.
 * @param failed - gets what is wrong, or what the promise rejects with. Must not throw.
 */
export function returnedAtOnce<Result>(
  method: string,
  returned: Result,
  failed: (cause: unknown) => void,
): Result | undefined {
  if (!isPromiseLike(returned)) return returned;
  const late = () => failed(new TypeError(`${method} must not be async: it has to return at once.`));
  Promise.resolve(returned).then(late, failed);
  return undefined;
}

/**
 * As {@link returnedAtOnce}, where there is no going on without it.
 * @throws TypeError for a promise, which is not waited for.
 */
export function requireAtOnce<Result>(method: string, returned: Result): Result {
  if (!isPromiseLike(returned)) return returned;
  Promise.resolve(returned).catch(() => {});
  throw new TypeError(`${method} must not be async: it has to return at once.`);
}

/** Whether something can be waited for. What throws when it is looked at cannot. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  try {
    return typeof (value as { then?: unknown }).then === "function";
  } catch {
    return false;
  }
}

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
