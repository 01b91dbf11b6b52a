import type { AbortNotice } from "../providers/upstream-provider.js";

/**
 * Resolves after so many milliseconds, at the first notice, or when it is woken; at once when a notice has come already.
 * @param begin - called with what wakes it, unless a notice has come already.
 */
export type Pause = (ms: number, notices: readonly AbortNotice[], begin?: (wake: () => void) => void) => Promise<void>;

/** The {@link Pause} of the real time. */
export const waitFor: Pause = (ms, notices, begin) => {
  if (notices.some((notice) => notice.aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      for (const notice of notices) notice.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    for (const notice of notices) notice.addEventListener("abort", wake);
    begin?.(wake);
  });
};
