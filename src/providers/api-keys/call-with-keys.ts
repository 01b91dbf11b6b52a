import { Buffer } from "node:buffer";
import { isOwnAccount } from "../../model-api/failure/own-account.js";
import { readRetryAfter } from "../../model-api/failure/read-retry-after.js";
import { readErrorObject } from "../../model-api/failure/upstream-failure.js";
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
/** Longer errors are not read, in bytes. */
const longestError = 65_536;

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
    let answer = await send(key);
    let restMs = restOf(answer);
    if (restMs === undefined && keys.length > 1 && answer.status >= 400) {
      const { refusesAccount, body } = await readError(answer);
      answer = { status: answer.status, headers: answer.headers, body };
      if (refusesAccount) restMs = refusedMs;
    }
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

/** Some vendors have no status of its own for an account that is out of money: the body of the error says so. */
async function readError({
  body,
}: DirectAnswer): Promise<{ refusesAccount: boolean; body: AsyncIterable<Uint8Array> }> {
  const source = body[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= longestError) {
    const { done, value } = await source.next();
    if (done === true) break;
    read.push(value);
    bytes += value.byteLength;
  }
  return { refusesAccount: isOwnAccount(readErrorObject(jsonOf(read))), body: putBack(read, source) };
}

function jsonOf(pieces: readonly Uint8Array[]): unknown {
  try {
    return JSON.parse(Buffer.concat(pieces).toString());
  } catch {
    return undefined;
  }
}

async function* putBack(read: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* read;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

function leave({ body }: DirectAnswer): void {
  const iterator = body[Symbol.asyncIterator]();
  Promise.resolve(iterator.return?.()).catch(() => {});
}
