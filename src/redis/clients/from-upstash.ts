import type { NodeRedisClient } from "../redis-client.js";

/** What is needed of a `Redis` of `@upstash/redis`, `@upstash/redis/cloudflare` or `@upstash/redis/fastly`. */
export interface UpstashRedis {
  pipeline(): UpstashPipeline;
}

/** Commands that go in one request. */
export interface UpstashPipeline {
  evalsha(sha1: string, keys: string[], args: string[]): unknown;
  eval(script: string, keys: string[], args: string[]): unknown;
  exec(options: { keepErrors: true }): Promise<readonly UpstashOutcome[]>;
}

/** What became of a command. */
export interface UpstashOutcome {
  readonly result?: unknown;
  readonly error?: string | undefined;
}

/**
 * Makes a `Redis` of `@upstash/redis` into the client that the stores take: `redisStores({ client: fromUpstash(redis) })`.
 *
 * Each script is a request of its own over HTTP, also where the client would put commands of several callers together. It
 * has no subscriptions: what other processes change is known when caches forget.
 *
 * @throws TypeError when it is no such client, or one that makes numbers and objects of replies.
 */
export function fromUpstash(redis: UpstashRedis): NodeRedisClient {
  if (typeof redis?.pipeline !== "function" || !isUpstash(redis)) {
    throw new TypeError("fromUpstash takes a client of @upstash/redis, such as `new Redis({ url, token, … })`.");
  }
  // Not in its type: the package has it protected.
  const { opts } = redis as { opts?: { automaticDeserialization?: boolean } };
  if (opts?.automaticDeserialization !== false) {
    throw new TypeError(
      "This client of @upstash/redis makes numbers and objects of texts that look like them, which would change what the " +
        "stores keep. Make one for them: `new Redis({ url, token, automaticDeserialization: false })`.",
    );
  }
  return {
    evalSha: (sha1, { keys, arguments: args }) => runAlone(redis, (pipeline) => pipeline.evalsha(sha1, keys, args)),
    eval: (script, { keys, arguments: args }) => runAlone(redis, (pipeline) => pipeline.eval(script, keys, args)),
  };
}

/** Whether it is a client of `@upstash/redis`, whose scripts take other arguments than ioredis's of the same names. */
export function isUpstash(client: object): boolean {
  const { createScript, evalshaBuffer } = client as Record<string, unknown>;
  return typeof createScript === "function" && evalshaBuffer === undefined;
}

async function runAlone(redis: UpstashRedis, add: (pipeline: UpstashPipeline) => unknown): Promise<unknown> {
  const pipeline = redis.pipeline();
  add(pipeline);
  const [outcome] = await pipeline.exec({ keepErrors: true }).catch(rejectRedacted);
  if (outcome === undefined) throw new Error("Upstash returned nothing for a command.");
  if (outcome.error !== undefined && outcome.error !== null) throw new Error(withoutCommand(outcome.error));
  return outcome.result;
}

/** The errors of the package repeat the command, with its keys and arguments, or what came in place of JSON. */
function rejectRedacted(error: unknown): never {
  const { name, message } = error instanceof Error ? error : { name: "", message: "" };
  if (name === "UpstashJSONParseError") throw new Error("Upstash returned something else than JSON.");
  // A timeout or an abort has its name from the runtime, and says nothing of the command.
  throw new Error(withoutCommand(message) || "The request to Upstash failed.");
}

/** Without what stands around the words of Redis, which come first then. */
function withoutCommand(message: string): string {
  const [words = ""] = message.split(/, (?:command was|with args beginning with):/, 1);
  return words.replace(/^Command( \d+ \[ \S+ \])? failed: /, "").trim();
}
