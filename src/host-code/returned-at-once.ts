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
