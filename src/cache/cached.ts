import * as z from "zod";
import { explainOnce } from "../check/check-input.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { having } from "../check/text-schemas.js";
import { settingsOf, toDirectProvider } from "../providers/direct-call.js";
import type { OwnKeyCall, UpstreamProvider } from "../providers/upstream-provider.js";
import { longestResponse } from "./cached-response.js";
import { ResponseCache } from "./response-cache.js";
import type { ResponseCacheStore } from "./response-cache-store.js";

/** How a provider's responses are kept for equal requests. See `docs/cache.md`. */
export interface CacheOptions {
  /**
   * `"ask"`: for requests with the header `x-infergate-cache: on`. `"always"`: for all but those that say `off`.
   * @default "ask"
   */
  mode?: "ask" | "always" | undefined;
  /**
   * How long a response is kept, in milliseconds.
   * @default 300_000
   */
  ttlMs?: number | undefined;
  /**
   * The memory of all kept responses, in bytes. An account has a quarter of it at most. What has come of responses that may
   * be kept takes as much again, at most.
   * @default 67_108_864
   */
  maxBytes?: number | undefined;
  /**
   * The largest response that is kept, in bytes.
   * @default 1_048_576
   */
  maxResponseBytes?: number | undefined;
  /**
   * The share of its price that a kept response costs, from 0 to 1.
   * @default 0
   */
  share?: number | undefined;
  /**
   * Keeps the responses for all processes: `redisResponseCache({ client })`, or your own, which bounds them itself. Then
   * {@link maxBytes} is for copies of responses under way alone.
   * @default the memory of the process
   */
  store?: ResponseCacheStore | undefined;
}

const count = z.number().int().positive();

const optionsSchema = z.strictObject({
  mode: z.enum(["ask", "always"]).default("ask"),
  ttlMs: count.default(300_000),
  maxBytes: count.default(64 * 1024 * 1024),
  maxResponseBytes: count.max(longestResponse).default(1024 * 1024),
  share: z.number().min(0).max(1).default(0),
  store: having<ResponseCacheStore>("a store of the response cache, such as redisResponseCache({ client })", [
    "get",
    "put",
    "forget",
  ]).optional(),
});

/**
 * A provider that keeps its responses, and gives them again to equal requests of the same account.
 *
 * @throws TypeError when an option is not valid.
 */
export function cached(provider: UpstreamProvider, options: CacheOptions = {}): UpstreamProvider {
  const checked = optionsSchema.safeParse(options, explainOnce("option"));
  if (!checked.success) {
    throw new TypeError(listProblems("cached: the options are not valid", problemsOf(checked.error)));
  }
  if (typeof provider?.call !== "function") {
    throw new TypeError("cached: the first argument must be a provider, such as openAI(): it needs the method call.");
  }
  // The inner one's terms would be lost, and the charge be wrong.
  if ("cached" in settingsOf(provider)) throw new TypeError("cached: this provider keeps its responses already.");
  const cache = new ResponseCache(provider, checked.data);
  const { operations, dialect } = provider;
  return toDirectProvider(
    {
      ...{ operations, dialect },
      ...(provider.ownKey && { ownKey: (call: OwnKeyCall) => provider.ownKey?.(call) }),
      ...(provider.secrets && { secrets: () => provider.secrets?.() ?? {} }),
      async forget(account) {
        await Promise.all([cache.forget(account), provider.forget?.(account)]);
      },
      async close() {
        await cache.close();
        await provider.close?.();
      },
    },
    (call, listener, client) => cache.call(call, listener, client),
    { cached: settingsOf(provider), ...checked.data },
  );
}
