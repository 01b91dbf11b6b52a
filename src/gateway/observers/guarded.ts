/** Calls the host's code. @param failed - gets what it throws, and what its promise rejects with. Must not throw. */
export function guarded(call: () => unknown, failed: (cause: unknown) => void): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(failed);
  } catch (cause) {
    failed(cause);
  }
}
