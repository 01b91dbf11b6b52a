import { isNodeRedis, type RedisClient } from "./redis-client.js";
import type { Script } from "./script.js";

/** Runs a script in one round trip. The keys must be in one hash slot. */
export type RunScript = (
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** @throws TypeError when the client is neither ioredis nor node-redis. */
export function scriptRunner(client: RedisClient): RunScript {
  const { byDigest, byText } = calls(client);
  return ({ sha1, text }, keys, args) => {
    const texts = args.map(String);
    return byDigest(sha1, keys, texts).catch((error: unknown) => {
      // A server has no scripts after a restart, a promotion or SCRIPT FLUSH: this loads them.
      if (isNoScript(error)) return byText(text, keys, texts);
      throw error;
    });
  };
}

type Call = (script: string, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

function calls(client: RedisClient): { byDigest: Call; byText: Call } {
  if (isNodeRedis(client)) {
    return {
      byDigest: (sha1, keys, args) => client.evalSha(sha1, { keys: [...keys], arguments: [...args] }),
      byText: (text, keys, args) => client.eval(text, { keys: [...keys], arguments: [...args] }),
    };
  }
  if (typeof client?.evalsha === "function") {
    return {
      byDigest: (sha1, keys, args) => client.evalsha(sha1, keys.length, ...keys, ...args),
      byText: (text, keys, args) => client.eval(text, keys.length, ...keys, ...args),
    };
  }
  throw new TypeError(
    "client must be a client of ioredis or node-redis, such as `new Redis(url)` or `createClient()`.",
  );
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}
