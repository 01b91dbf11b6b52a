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
