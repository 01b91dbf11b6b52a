/**
 * Calls the host's code. It may be async in spite of its type, and its rejection must not end the process.
 * @param failed - gets what it throws, and what its promise rejects with. Must not throw.
 */
export function callHook(call: () => unknown, failed: (cause: unknown) => void): void {
  try {
    const result = call();
    if (result !== undefined) Promise.resolve(result).catch(failed);
  } catch (cause) {
    failed(cause);
  }
}
