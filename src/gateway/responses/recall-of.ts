import { MemoryResponseCache } from "../../cache/memory-response-cache.js";
import { AnswerRecall } from "../../call/cached/answer-recall.js";
import { systemClock } from "../../ledger/clock.js";
import type { ResolvedOptions } from "../options.js";
import { WatchedResponseCache, type WatchedResponseCacheServices } from "./watched-response-cache.js";

/** What finds responses that were kept, and what ends with the gateway. */
export interface GatewayRecall {
  readonly recall: AnswerRecall;
  /** Resolves when no response is being kept any more. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** @returns `undefined`: no responses are kept for equal requests. */
export function recallOf(
  { cache: options, clock = systemClock, exposeCost: exposesCost, guards }: ResolvedOptions,
  services: Omit<WatchedResponseCacheServices, "clock">,
): GatewayRecall | undefined {
  if (options === undefined) return undefined;
  const names = guards.map(({ name }) => name);
  const by = { clock, exposesCost, guards: names };
  if (options.store === undefined) {
    const cache = new MemoryResponseCache(options.maxBytes, clock);
    return {
      recall: new AnswerRecall(options, { ...by, cache, isShared: false }),
      settled: nothingToDo,
      close: nothingToDo,
    };
  }
  const cache = new WatchedResponseCache(options.store, { ...services, clock });
  const recall = new AnswerRecall(options, { ...by, cache, isShared: true });
  return { recall, settled: () => cache.settled(), close: () => cache.close() };
}

const nothingToDo = async (): Promise<void> => {};
