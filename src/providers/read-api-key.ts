import { isHeaderValue } from "./header-syntax.js";
import { type AbortNotice, UpstreamError } from "./upstream-provider.js";

/** Gives the key that is good right now. */
export type ApiKeySource = () => string | undefined | Promise<string | undefined>;

/**
 * The key of this call, or an empty string for none.
 * @throws {@link UpstreamError} `unreachable` when there is no usable key; it never contains the key.
 */
export async function readApiKey(source: ApiKeySource, signal: AbortNotice): Promise<string> {
  let apiKey: unknown;
  try {
    const current = source();
    apiKey = current instanceof Promise ? await orAborted(current, signal) : current;
  } catch (error) {
    if (error instanceof UpstreamError) throw error;
    throw new UpstreamError("unreachable", "The apiKey function of openAICompatible has failed.", { cause: error });
  }
  if (apiKey === undefined) return "";
  if (typeof apiKey === "string" && isHeaderValue(apiKey)) return apiKey;
  throw new UpstreamError(
    "unreachable",
    "The apiKey function of openAICompatible gave no key that fits into a header.",
  );
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortNotice): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new UpstreamError("aborted", "The call was aborted.", { cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
