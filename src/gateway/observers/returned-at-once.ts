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

function isPromiseLike(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
