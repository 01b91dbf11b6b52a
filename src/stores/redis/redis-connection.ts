import { requireBooleans } from "../../check/known-options.js";
import { TimeLimit, TimeLimitError } from "../../ledger/guard/time-limit.js";
import { isIsolate } from "../../runtime/runtime.js";
import { ChangeFeed, subscriptionOpener } from "./change-feed.js";
import { checkClient, isCluster, type RedisClient } from "./redis-client.js";
import { makeScript, namesOf, type RunScript, type ScriptKeys, scriptRunner } from "./script.js";
import { connectionMark, replicaLeaver, whenReconnected } from "./when-reconnected.js";

/** Options of every store in Redis. */
export interface RedisOptions {
  /**
   * A connected client of ioredis or node-redis, for one server, Sentinel or Cluster; or one of `@upstash/redis`, as
   * `fromUpstash(redis)`. It stays the host's to close.
   */
  client: RedisClient;
  /** What the names of all keys begin with; without braces. Default: `infergate`. */
  prefix?: string | undefined;
  /** How long Redis may take to respond, in milliseconds. Default: 2000. */
  timeoutMs?: number | undefined;
  /**
   * Accept a server whose `maxmemory-policy` is not `noeviction`. When its memory is full it drops keys, and a dropped
   * account has all its credits again. Default: `false`: every operation fails on such a server.
   */
  allowEviction?: boolean | undefined;
  /**
   * No operation waits for a promise, a timer or a connection that another one has begun: where each request's end with it,
   * it would wait for ever. So nothing is put together, and there are no subscriptions. Default: `true` on Cloudflare
   * Workers, else `false`.
   */
  isolate?: boolean | undefined;
}

/** All that there are. */
export const knownRedisOptions: Readonly<Record<keyof RedisOptions, true>> = {
  client: true,
  prefix: true,
  timeoutMs: true,
  allowEviction: true,
  isolate: true,
};

/** Options, checked, with their defaults. */
export interface RedisConnection {
  readonly run: RunScript;
  /** Whether `run` can return bytes. */
  readonly returnsBytes: boolean;
  readonly isCluster: boolean;
  readonly isolate: boolean;
  readonly prefix: string;
  readonly changes: ChangeFeed;
  /** @returns what ends it. */
  readonly onReconnected: (listener: () => void) => () => void;
}

const maxTimeoutMs = 2 ** 31 - 1;

/**
 * @throws TypeError when the client or the prefix is not valid.
 * @throws RangeError when `timeoutMs` is not a whole number of at least 1.
 */
export function connectionOf(options: RedisOptions): RedisConnection {
  const { client, prefix = "infergate", timeoutMs = 2_000, allowEviction = false, isolate = isIsolate } = options;
  checkClient(client);
  requireBooleans({ allowEviction, isolate });
  // Braces would move all accounts into one slot of a cluster.
  if (typeof prefix !== "string" || prefix === "" || /[{}]/.test(prefix)) {
    throw new TypeError("prefix must be a string that is not empty and has no braces.");
  }
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > maxTimeoutMs) {
    throw new RangeError(`timeoutMs must be a whole number of at least 1, not ${timeoutMs}.`);
  }
  const now = () => performance.now();
  // A connection of an isolate ends with its request.
  const { run, returnsBytes } = scriptRunner(client, isolate ? undefined : replicaLeaver(client, now));
  const timed = isolate ? withOwnTimers(run, timeoutMs) : withOneTimer(run, timeoutMs);
  const channel = `${prefix}:changes`;
  const checks = { isolate, connection: () => connectionMark(client), now };
  return {
    run: allowEviction ? timed : refuseEviction(timed, checks),
    returnsBytes,
    isCluster: isCluster(client),
    isolate,
    prefix,
    changes: new ChangeFeed(channel, isolate ? undefined : subscriptionOpener(client, channel)),
    // The event comes in the midst of another request.
    onReconnected: (listener) => (isolate ? () => {} : whenReconnected(client, listener)),
  };
}

function withOneTimer(run: RunScript, timeoutMs: number): RunScript {
  const limit = new TimeLimit(timeoutMs);
  return (script, keys, args) => limit.race(run(script, keys, args));
}

function withOwnTimers(run: RunScript, timeoutMs: number): RunScript {
  return (script, keys, args) => raceAlone(timeoutMs, run(script, keys, args));
}

// CONFIG GET is what managed services forbid first, and a script may not call it.
const memoryInfo = makeScript("return redis.call('INFO', 'memory')");

/** After so long it is read again: a person may have changed it. In milliseconds. */
const trustMs = 5 * 60_000;

/** What a check of the policy goes by. */
interface EvictionChecks {
  /** Whether callers check for themselves, and do not wait for the check of another one. */
  readonly isolate: boolean;
  /** Another value after each reconnection, which may have led to another server. */
  readonly connection: () => unknown;
  /** In milliseconds, from any beginning. */
  readonly now: () => number;
}

/**
 * Reads the server's policy with the first script, after a reconnection, and again every few minutes. It refuses to run
 * scripts while the server may evict keys when its memory is full. A server that does not show its policy is trusted.
 */
export function refuseEviction(run: RunScript, { isolate, connection, now }: EvictionChecks): RunScript {
  let trusted: { readonly until: number; readonly connection: unknown } | undefined;
  let pending: Promise<void> | undefined;

  function isTrusted(): boolean {
    return trusted !== undefined && now() < trusted.until && connection() === trusted.connection;
  }

  async function check(keys: ScriptKeys): Promise<void> {
    // Of before the check: a connection that is lost meanwhile is checked again.
    const checked = { until: now() + trustMs, connection: connection() };
    trusted = undefined;
    const policy = await readPolicy(run, keys);
    if (policy !== undefined && policy !== "noeviction") throw new Error(messageFor(policy));
    trusted = checked;
  }

  function checkTogether(keys: ScriptKeys): Promise<void> {
    pending ??= check(keys).finally(() => {
      pending = undefined;
    });
    return pending;
  }

  async function runChecked(...call: Parameters<RunScript>): Promise<unknown> {
    await (isolate ? check(call[1]) : checkTogether(call[1]));
    return await run(...call);
  }

  return (script, keys, args) => (isTrusted() ? run(script, keys, args) : runChecked(script, keys, args));
}

async function readPolicy(run: RunScript, keys: ScriptKeys): Promise<string | undefined> {
  try {
    const info = String(await run(memoryInfo, namesOf(keys).slice(0, 1), []));
    return /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  } catch (error) {
    const isForbidden = error instanceof Error && /^(NOPERM|ERR)\b/.test(error.message);
    if (isForbidden) return undefined;
    throw error;
  }
}

function messageFor(policy: string): string {
  return (
    `its maxmemory-policy is ${policy}. It would drop accounts when its memory is full, which refills them: ` +
    "set maxmemory-policy to noeviction, or pass `allowEviction: true` to accept that."
  );
}

/**
 * Settles as the promise does, by a timer of its own.
 * @throws TimeLimitError when that takes longer than `ms` milliseconds. A later result is ignored.
 */
function raceAlone<Answer>(ms: number, answer: PromiseLike<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new TimeLimitError(`There was no response in time (${ms} ms).`)), ms);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
