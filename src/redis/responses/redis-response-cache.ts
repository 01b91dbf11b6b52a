import { Buffer } from "node:buffer";
import type { ResponseCacheStore } from "../../cache/response-cache-store.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { requireAtLeast } from "../../responses/response-limits.js";
import { AccountKeys } from "../account-keys.js";
import { clock } from "../lua/clock.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "../redis-options.js";
import { makeScript, type Script } from "../script.js";
import { cachePrelude, forgetCached, getCached, putCached } from "./cache-lua.js";

/** Options of {@link redisResponseCache}. The server may be one that evicts keys: what it drops is a response less. */
export interface RedisResponseCacheOptions extends Omit<RedisOptions, "allowEviction"> {
  /** How many bytes an account has at most: beyond it, what expires first goes. Default: 16,777,216, which is 16 MiB. */
  maxAccountBytes?: number | undefined;
}

const { allowEviction: _none, ...knownOfRedis } = knownRedisOptions;
const knownCacheOptions: Readonly<Record<keyof RedisResponseCacheOptions, true>> = {
  ...knownOfRedis,
  maxAccountBytes: true,
};

/** What a value takes beside its bytes. */
const entryBytes = 256;

/**
 * Keeps responses for equal requests in Redis, for all processes: `createGateway({ cache: { store: redisResponseCache({ client
 * }) } })`. They are there in clear text. Each operation is one script in one round trip. All keys of an account are in one
 * hash slot, and have a time to live.
 *
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisResponseCache(options: RedisResponseCacheOptions): ResponseCacheStore {
  requireKnownOptions("redisResponseCache", options, knownCacheOptions);
  const { maxAccountBytes = 16 * 1024 * 1024, ...redis } = options;
  requireAtLeast("maxAccountBytes", maxAccountBytes, 1);
  return responseCacheOn(connectionOf({ ...redis, allowEviction: true }), maxAccountBytes);
}

/** One script for each operation. */
export type CacheScripts = Readonly<Record<"get" | "put" | "forget", Script>>;

/** @param clockPart - the part that defines `now`. */
export function makeCacheScripts(clockPart: string = clock): CacheScripts {
  return {
    get: makeScript(cachePrelude, clockPart, getCached),
    put: makeScript(cachePrelude, clockPart, putCached),
    forget: makeScript(forgetCached),
  };
}

const cacheScripts = makeCacheScripts();

/** The same on a connection. */
export function responseCacheOn(
  { run, prefix }: Pick<RedisConnection, "run" | "prefix">,
  maxAccountBytes: number,
  scripts = cacheScripts,
): ResponseCacheStore {
  const keys = new AccountKeys(prefix);
  return {
    async get(account, key) {
      const found = await run(scripts.get, keys.ofCache(account), [key]);
      // Clients take a text for UTF-8. So a value is written as a text in which each character is one of its bytes.
      return typeof found === "string" ? Buffer.from(found, "latin1") : undefined;
    },
    async put(account, key, value, ttlMs) {
      const text = Buffer.from(value.buffer, value.byteOffset, value.length).toString("latin1");
      await run(scripts.put, keys.ofCache(account), [key, ttlMs, maxAccountBytes, entryBytes, text]);
    },
    async forget(account) {
      await run(scripts.forget, keys.ofCache(account), []);
    },
  };
}
