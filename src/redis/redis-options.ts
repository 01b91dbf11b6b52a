import { requireBooleans } from "../check/require-booleans.js";
import { TimeLimit } from "../guard/time-limit.js";
import { isIsolate } from "../runtime/isolate.js";
import { ChangeFeed } from "./change-feed.js";
import { checkClient } from "./clients/check-client.js";
import { connectionMark } from "./clients/connection-mark.js";
import { replicaLeaver } from "./clients/replica-leaver.js";
import { raceAlone } from "./isolate/race-alone.js";
import { isCluster, type RedisClient } from "./redis-client.js";
import { refuseEviction } from "./refuse-eviction.js";
import { type RunScript, scriptRunner } from "./run-script.js";
import { subscriptionOpener } from "./subscription.js";
import { whenReconnected } from "./when-reconnected.js";

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
