/** Waits for all of them. @throws what the first one threw that failed, when all have ended. */
export async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) {
    if (outcome.status === "rejected") throw outcome.reason;
  }
}
