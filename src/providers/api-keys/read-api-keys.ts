import { isPromiseLike } from "../../host-code/returned-at-once.js";
import { isHeaderValue } from "../header-syntax.js";
import { type AbortNotice, isUpstreamError, UpstreamError } from "../upstream-provider.js";

/** A key, or several: then calls are spread over them. `undefined`: none. */
export type ApiKeys = string | readonly string[] | undefined;

/** Gives the keys that are good right now. */
export type ApiKeySource = () => ApiKeys | Promise<ApiKeys>;

/** When a call is aborted, and how long the host's function may take, in milliseconds. */
interface Patience {
  readonly signal: AbortNotice;
  readonly maxMs: number;
}

/**
 * The keys for this call, at least one. An empty one stands for none.
 * @throws {@link UpstreamError} `unreachable` when there is no usable key; it never contains the key.
 */
export async function readApiKeys(source: ApiKeySource, patience: Patience): Promise<readonly string[]> {
  let given: unknown;
  try {
    const current = source();
    given = isPromiseLike(current) ? await inTime(current, patience) : current;
  } catch (error) {
    if (isUpstreamError(error)) throw error;
    throw new UpstreamError("unreachable", "The apiKey function of openAICompatible has failed.", { cause: error });
  }
  if (given === undefined) return [""];
  const keys: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (keys.length > 0 && keys.every(isUsable)) return keys;
  throw new UpstreamError(
    "unreachable",
    "The apiKey function of openAICompatible gave no key that fits into a header.",
  );
}

function isUsable(key: unknown): key is string {
  return typeof key === "string" && isHeaderValue(key);
}

function inTime(pending: PromiseLike<ApiKeys>, { signal, maxMs }: Patience): Promise<ApiKeys> {
  return new Promise<ApiKeys>((resolve, reject) => {
    const abort = () => reject(new UpstreamError("aborted", "The call was aborted.", { cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    const late = `The apiKey function of openAICompatible gave no key within ${maxMs} ms.`;
    const timer = setTimeout(() => reject(new UpstreamError("unreachable", late)), maxMs);
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    };
    Promise.resolve(pending).then(resolve, reject).finally(end);
  });
}
