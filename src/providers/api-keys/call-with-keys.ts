import { readRetryAfter } from "../../model-api/failure/read-retry-after.js";
import type { DirectAnswer } from "../direct-call.js";
import type { KeyRing } from "./key-ring.js";

/** How long a key rests that the upstream refuses, in milliseconds. */
const refusedMs = 60_000;
/** How long a key rests at its limit where the upstream does not say, in milliseconds. */
const limitedMs = 10_000;
const shortestRestMs = 1_000;
const longestRestMs = 600_000;
/** One request must not use up all keys. */
const mostTries = 3;

/**
 * Sends a request with one key after another, until the upstream takes one. An upstream that refuses a key, or finds it
 * at its limit, has not run its model.
 */
export async function callWithKeys(
  ring: KeyRing,
  keys: readonly string[],
  send: (key: string) => Promise<DirectAnswer>,
): Promise<DirectAnswer> {
  const tried = new Set<string>();
  for (let key = ring.take(keys, tried) ?? ""; ; ) {
    const answer = await send(key);
    const restMs = restOf(answer);
    if (restMs === undefined) return answer;
    ring.rest(key, restMs);
    tried.add(key);
    const next = tried.size < mostTries ? ring.take(keys, tried) : undefined;
    if (next === undefined) return answer;
    key = next;
    leave(answer);
  }
}

/** How long the key rests after this response, in milliseconds. */
function restOf({ status, headers }: DirectAnswer): number | undefined {
  if (status === 401 || status === 402 || status === 403) return refusedMs;
  if (status !== 429) return undefined;
  const seconds = readRetryAfter(headers, Date.now());
  if (seconds === undefined) return limitedMs;
  return Math.min(longestRestMs, Math.max(shortestRestMs, seconds * 1000));
}

function leave({ body }: DirectAnswer): void {
  const iterator = body[Symbol.asyncIterator]();
  Promise.resolve(iterator.return?.()).catch(() => {});
}
