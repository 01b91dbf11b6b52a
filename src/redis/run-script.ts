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
  return async (script, keys, args) => {
    const texts = args.map(String);
    try {
      return await byDigest(script.sha1, [...keys], texts);
    } catch (error) {
      if (!isNoScript(error)) throw error;
      // A server that was restarted, promoted or told to forget its scripts: this also teaches it.
      return await byText(script.text, [...keys], texts);
    }
  };
}

type Call = (script: string, keys: string[], args: string[]) => Promise<unknown>;

function calls(client: RedisClient): { byDigest: Call; byText: Call } {
  if (isNodeRedis(client)) {
    return {
      byDigest: (sha1, keys, args) => client.evalSha(sha1, { keys, arguments: args }),
      byText: (text, keys, args) => client.eval(text, { keys, arguments: args }),
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
