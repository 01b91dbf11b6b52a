import * as z from "zod";
import { longestAnswer } from "../../cache/cached-answer.js";
import type { ResponseCacheStore } from "../../cache/response-cache-store.js";
import { having } from "../../check/having.js";

/** How responses are kept for equal requests. See `docs/cache.md`. */
export interface CacheOptions {
  /** `"ask"`: for requests with the header `x-infergate-cache: on`. `"always"`: for all. Default: `"ask"`. */
  mode?: "ask" | "always" | undefined;
  /** How long a response is kept, in milliseconds. Default: 300,000. */
  ttlMs?: number | undefined;
  /**
   * The memory of all kept responses, in bytes. An account has a quarter of it at most. What has come of streams that may be
   * kept takes as much again, at most. Default: 64 MiB.
   */
  maxBytes?: number | undefined;
  /** The largest response that is kept, in bytes. Default: 1 MiB. */
  maxAnswerBytes?: number | undefined;
  /** The share of the original charge that a kept response costs, from 0 to 1. Default: 0. */
  price?: number | undefined;
  /**
   * Keeps the responses for all processes: `redisResponseCache({ client })`, or your own, which bounds them itself. Then
   * {@link maxBytes} is for copies of streams under way alone. Default: each process keeps responses in its memory.
   */
  store?: ResponseCacheStore | undefined;
}

const count = z.number().int().positive();

const members = z.strictObject({
  mode: z.enum(["ask", "always"]).default("ask"),
  ttlMs: count.default(300_000),
  maxBytes: count.default(64 * 1024 * 1024),
  maxAnswerBytes: count.max(longestAnswer).default(1024 * 1024),
  price: z.number().min(0).max(1).default(0),
  store: having<ResponseCacheStore>("a store of the response cache, such as redisResponseCache({ client })", [
    "get",
    "put",
    "forget",
  ]).optional(),
});

/** `undefined`: no responses are kept. */
export const cacheSchema = z.preprocess((given) => (given === false ? undefined : given), members.optional());
