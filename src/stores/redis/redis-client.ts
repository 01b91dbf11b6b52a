/** What the stores use of ioredis 5 or later: a `Redis` or a `Cluster`. */
export interface IoredisClient {
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What the stores use of node-redis 5 or later: a client, a cluster or a sentinel, connected. */
export interface NodeRedisClient {
  evalSha(sha1: string, options: NodeRedisEvalOptions): Promise<unknown>;
  eval(script: string, options: NodeRedisEvalOptions): Promise<unknown>;
}

export interface NodeRedisEvalOptions {
  keys: string[];
  arguments: string[];
}

/**
 * The host's own client of Redis 6 or later, or of Valkey. It is used as it is and never closed: how it connects,
 * authenticates and retries is the host's choice. One of `@upstash/redis` is made into one by `fromUpstash`.
 */
export type RedisClient = IoredisClient | NodeRedisClient;

/** Whether scripts may only take keys of one hash slot, as far as the client shows it. */
export function isCluster(client: RedisClient): boolean {
  return ("isCluster" in client && client.isCluster === true) || (isNodeRedis(client) && "slots" in client);
}

export function isNodeRedis(client: RedisClient): client is NodeRedisClient {
  return "evalSha" in client && typeof client.evalSha === "function";
}

/**
 * Refuses what the stores cannot use, before the first operation fails by it.
 * @throws TypeError when it is no client of theirs.
 */
export function checkClient(client: RedisClient): void {
  if (typeof client !== "object" || client === null) {
    throw new TypeError(`${expected} It is ${client === null ? "null" : typeof client}.`);
  }
  if (isUpstash(client)) {
    throw new TypeError(
      "A client of @upstash/redis is given as `client: fromUpstash(redis)`, with `fromUpstash` of infergate/redis.",
    );
  }
  const { evalsha, eval: evalText } = client as unknown as Record<string, unknown>;
  const runsScripts = typeof evalText === "function" && (isNodeRedis(client) || typeof evalsha === "function");
  if (!runsScripts) throw new TypeError(`${expected} This object has no \`evalSha\` or \`evalsha\`, or no \`eval\`.`);
  if ("internal_send_command" in client) {
    throw new TypeError(
      `${expected} This is a client of \`redis\` 3, which returns no promises: take version 5 or later.`,
    );
  }
}

const expected =
  "client must be a client of ioredis or node-redis, such as `new Redis(url)` or `createClient()`, or one of " +
  "@upstash/redis as `fromUpstash(redis)`.";

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
function isUpstash(client: object): boolean {
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
