import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { callApi, signedOutEvent } from "./api.js";

/** What was loaded of the API. */
export interface Loaded<Data> {
  /** The newest that has come, also after a failure. */
  readonly data: Data | undefined;
  /** Why the newest attempt failed. */
  readonly error: Error | undefined;
  /** When `data` came, in epoch milliseconds. */
  readonly at: number;
  /** Loads it now. */
  reload(): Promise<void>;
}

const longestMs = 300_000;
/** What came last, by path: a view that is opened again has something to show at once. */
const known = new Map<string, { data: unknown; at: number }>();
window.addEventListener(signedOutEvent, () => known.clear());

/**
 * Loads a path of the API, and again when it changes.
 * @param every - milliseconds after which it is loaded again, while the page can be seen; and at once when it comes into
 * sight. After failures the time doubles, to 5 minutes at most.
 */
export function useApi<Data>(path: string, every?: number): Loaded<Data> {
  const [, show] = useState(0);
  const failed = useRef<{ path: string; error: Error } | undefined>(undefined);
  const load = useCallback(async () => {
    try {
      const data = await callApi<Data>(path);
      known.set(path, { data, at: Date.now() });
      failed.current = undefined;
    } catch (error) {
      failed.current = { path, error: error as Error };
    }
    show((count) => count + 1);
    return failed.current === undefined;
  }, [path]);
  useEffect(() => (every === undefined ? void load() : keepLoading(load, every)), [load, every]);
  const { data, at } = known.get(path) ?? { data: undefined, at: 0 };
  const error = failed.current?.path === path ? failed.current.error : undefined;
  return { data: data as Data | undefined, error, at, reload: async () => void (await load()) };
}

/** @returns what ends it. */
function keepLoading(load: () => Promise<boolean>, every: number): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  let failures = 0;
  let timer = 0;
  let isLoading = false;
  const next = async () => {
    if (isLoading || signal.aborted) return;
    window.clearTimeout(timer);
    if (document.visibilityState === "visible") {
      isLoading = true;
      failures = (await load()) ? 0 : failures + 1;
      isLoading = false;
    }
    if (!signal.aborted) timer = window.setTimeout(next, Math.min(longestMs, every * 2 ** failures));
  };
  document.addEventListener("visibilitychange", next, { signal });
  window.addEventListener("focus", next, { signal });
  void next();
  return () => {
    ended.abort();
    window.clearTimeout(timer);
  };
}
