import { isHeaderValue } from "../header-syntax.js";
import { type AbortNotice, UpstreamError } from "../upstream-provider.js";

/** A key, or several: then calls are spread over them. `undefined`: none. */
export type ApiKeys = string | readonly string[] | undefined;

/** Gives the keys that are good right now. */
export type ApiKeySource = () => ApiKeys | Promise<ApiKeys>;

/**
 * The keys for this call, at least one. An empty one stands for none.
 * @throws {@link UpstreamError} `unreachable` when there is no usable key; it never contains the key.
 */
export async function readApiKeys(source: ApiKeySource, signal: AbortNotice): Promise<readonly string[]> {
  let given: unknown;
  try {
    const current = source();
    given = current instanceof Promise ? await orAborted(current, signal) : current;
  } catch (error) {
    if (error instanceof UpstreamError) throw error;
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

function orAborted<Value>(promise: Promise<Value>, signal: AbortNotice): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new UpstreamError("aborted", "The call was aborted.", { cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
