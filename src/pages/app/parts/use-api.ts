import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { callApi, signedOutEvent } from "./api.js";
import { type Action, useAction } from "./use-action.js";

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
// Browsers keep pages for those who go back, and whoever goes back may be somebody else.
window.addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});

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

/** A list of the API, as far as it was asked for. */
export interface LoadedPages<Row> extends Loaded<readonly Row[]> {
  /** Loads the next page. Absent: there is none. */
  readonly more: Action | undefined;
}

interface Page<Row> {
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** How a list is loaded. */
interface PageOptions<Row> {
  /** What tells its rows apart. */
  readonly keyOf: (row: Row) => string;
  /** The parameter of the query that has `next` of the page before. Default: `cursor`. */
  readonly cursor?: string;
  /** As of {@link useApi}. */
  readonly every?: number;
}

/** Loads a list page by page. When the first page is loaded anew, what has come since stands before the pages that are there. */
export function usePages<Row>(path: string, { keyOf, cursor = "cursor", every }: PageOptions<Row>): LoadedPages<Row> {
  const first = useApi<Page<Row>>(path, every);
  const [further, setFurther] = useState<Page<Row>>();
  const next = (further ?? first.data)?.next ?? null;
  const more = useAction(async () => {
    const page = await callApi<Page<Row>>(
      `${path}${path.includes("?") ? "&" : "?"}${cursor}=${encodeURIComponent(next ?? "")}`,
    );
    setFurther({ data: [...(further?.data ?? []), ...page.data], next: page.next });
  });
  const rows = new Map([...(first.data?.data ?? []), ...(further?.data ?? [])].map((row) => [keyOf(row), row]));
  const reload = async () => {
    setFurther(undefined);
    await first.reload();
  };
  return { ...first, data: first.data && [...rows.values()], reload, more: next === null ? undefined : more };
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
  window.addEventListener(signedOutEvent, () => ended.abort(), { signal });
  void next();
  return () => {
    ended.abort();
    window.clearTimeout(timer);
  };
}
