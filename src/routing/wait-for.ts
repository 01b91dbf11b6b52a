import type { AbortNotice } from "../providers/upstream-provider.js";

/**
 * Resolves after `ms` milliseconds, when a notice is aborted, or when `wake` is called. Resolves at once when a notice
 * is aborted already.
 * @param begin - gets `wake`, unless a notice is aborted already.
 */
export type Pause = (ms: number, notices: readonly AbortNotice[], begin?: (wake: () => void) => void) => Promise<void>;

/** The {@link Pause} in real time. */
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
