import { isNodeRedis, type RedisClient } from "../redis-client.js";
import { isUpstash } from "./from-upstash.js";

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
