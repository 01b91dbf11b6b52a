import { setTimeout as pause } from "node:timers/promises";

/** How long a real server may take to send its notice. */
const timeoutMs = 5_000;
const intervalMs = 5;

/** Waits until the assertion holds. Rejects with what it last threw. */
export async function eventually(assertion: () => void): Promise<void> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    try {
      return assertion();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await pause(intervalMs);
  }
}
