import { Buffer } from "node:buffer";
import { isOwnAccount } from "../protocols/shared/own-account.js";
import { readRetryAfter } from "../protocols/shared/retry-after.js";
import { readErrorObject } from "../protocols/shared/upstream-failure.js";
import { isPromiseLike } from "../runtime/host-code.js";
import type { DirectResponse } from "./direct-call.js";
import { isHeaderValue } from "./headers.js";
import { type AbortNotice, isUpstreamError, UpstreamError } from "./upstream-provider.js";

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
  send: (key: string) => Promise<DirectResponse>,
): Promise<DirectResponse> {
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
function restOf({ status, headers }: DirectResponse): number | undefined {
  if (status === 401 || status === 402 || status === 403) return refusedMs;
  if (status !== 429) return undefined;
  const seconds = readRetryAfter(headers, Date.now());
  if (seconds === undefined) return limitedMs;
  return Math.min(longestRestMs, Math.max(shortestRestMs, seconds * 1000));
}

/** Some vendors have no status of its own for an account that is out of money: the body of the error says so. */
async function readError({
  body,
}: DirectResponse): Promise<{ refusesAccount: boolean; body: AsyncIterable<Uint8Array> }> {
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

function leave({ body }: DirectResponse): void {
  const iterator = body[Symbol.asyncIterator]();
  Promise.resolve(iterator.return?.()).catch(() => {});
}

/** So many resting keys are remembered before those that rest no longer are forgotten. */
const mostResting = 200;

/** Spreads calls over several keys of one upstream. A key at its limit rests. */
export class KeyRing {
  readonly #now: () => number;
  /** Until when keys rest, in milliseconds of the clock. */
  readonly #restsUntil = new Map<string, number>();
  #turn = 0;

  /** @param now - a clock that is never set back, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * The key whose turn it is, of those that do not rest and were not tried.
   * @returns `undefined` where there is no such key. For a call that has tried none, it is then the key that rests the
   * shortest: a key that seems to be at its limit is better than none.
   */
  take(keys: readonly string[], tried: ReadonlySet<string>): string | undefined {
    const now = this.#now();
    const first = this.#turn++;
    let soonest: string | undefined;
    let soonestAt = Number.POSITIVE_INFINITY;
    for (let place = 0; place < keys.length; place++) {
      const key = keys[(first + place) % keys.length] ?? "";
      if (tried.has(key)) continue;
      const restsUntil = this.#restsUntil.get(key) ?? 0;
      if (restsUntil <= now) return key;
      if (restsUntil < soonestAt) [soonest, soonestAt] = [key, restsUntil];
    }
    return tried.size === 0 ? soonest : undefined;
  }

  rest(key: string, ms: number): void {
    const now = this.#now();
    if (this.#restsUntil.size >= mostResting) {
      for (const [each, until] of this.#restsUntil) if (until <= now) this.#restsUntil.delete(each);
    }
    this.#restsUntil.set(key, now + ms);
  }
}

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
