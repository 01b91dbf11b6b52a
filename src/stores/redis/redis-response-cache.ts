import { Buffer } from "node:buffer";
import type { ResponseCacheStore } from "../../cache/response-cache-store.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { requireAtLeast } from "../../responses/response-store.js";
import { AccountKeys } from "./account-keys.js";
import { clock } from "./lua/prelude.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "./redis-connection.js";
import { makeScript, type Script } from "./script.js";

// Two keys of each account, which live as long as the value of theirs that is to live longest:
// - a hash of the values by their keys, and under `:bytes` what they take together;
// - a sorted set of the keys by the moments at which their values expire.

/** What each script begins with. It is followed by what defines `now`. */
const cachePrelude = `
local valuesKey, expiryKey = unpack(KEYS)
local call = redis.call
`;

const getCached = `
local key = ARGV[1]
local expiresAt = call('ZSCORE', expiryKey, key)
if not expiresAt or tonumber(expiresAt) <= now then return false end
return call('HGET', valuesKey, key)
`;

const putCached = `
local key, ttlMs, maxBytes, entryBytes, value = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]

local function sizeOf(bytes)
  return bytes + entryBytes
end

local function remove(old)
  local bytes = call('HSTRLEN', valuesKey, old)
  if bytes > 0 then call('HINCRBY', valuesKey, ':bytes', -sizeOf(bytes)) end
  call('HDEL', valuesKey, old)
  call('ZREM', expiryKey, old)
end

-- A server that evicts keys may have dropped one of the two: then what is in the other is lost, too.
if call('EXISTS', valuesKey) ~= call('EXISTS', expiryKey) then call('UNLINK', valuesKey, expiryKey) end

-- A few at a time, so that no other client is kept waiting.
for _, old in ipairs(call('ZRANGEBYSCORE', expiryKey, '-inf', now, 'LIMIT', 0, 64)) do remove(old) end
remove(key)
local size = sizeOf(#value)
if size > maxBytes then return 0 end
local total = tonumber(call('HGET', valuesKey, ':bytes') or 0)
while total + size > maxBytes do
  remove(call('ZRANGE', expiryKey, 0, 0)[1])
  total = tonumber(call('HGET', valuesKey, ':bytes'))
end
call('HSET', valuesKey, key, value)
call('HINCRBY', valuesKey, ':bytes', size)
call('ZADD', expiryKey, now + ttlMs, key)
for _, name in ipairs(KEYS) do
  if call('PTTL', name) < ttlMs then call('PEXPIRE', name, ttlMs) end
end
return 1
`;

const forgetCached = "return redis.call('UNLINK', unpack(KEYS))";

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
type CacheScripts = Readonly<Record<"get" | "put" | "forget", Script>>;

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
