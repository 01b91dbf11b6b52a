import type { CatalogModel } from "../../access/catalog.js";
import { AnswerCache } from "../../cache/answer-cache.js";
import { cacheKey } from "../../cache/cache-key.js";
import { readCacheWishes } from "../../cache/cache-wishes.js";
import type { CachedAnswer } from "../../cache/cached-answer.js";
import type { Clock } from "../../ledger/clock.js";
import type { Micro } from "../../metering/micro.js";
import type { Operation } from "../../operations/operation.js";
import type { CheckedCall } from "../checked-call.js";
import { CacheVisit } from "./cache-visit.js";

/** How responses are kept, resolved. */
export interface RecallOptions {
  /** `ask`: only for requests that say `x-infergate-cache: on`. */
  readonly mode: "ask" | "always";
  readonly ttlMs: number;
  readonly maxBytes: number;
  readonly maxAnswerBytes: number;
  /** The share of the original charge that a kept response costs. */
  readonly price: number;
}

/** The part of a request that says what may be kept of it. */
interface AskingRequest {
  readonly operation: Operation;
  header(name: string): string | undefined;
}

const modeHeader = "x-infergate-cache";

/** Finds responses that were kept for equal requests of an account, and keeps new ones. */
export class AnswerRecall {
  readonly #options: RecallOptions;
  readonly #clock: Clock;
  readonly #cache: AnswerCache;
  /** An update of a model makes another object of it. */
  readonly #definitions = new WeakMap<CatalogModel, number>();
  #lastDefinition = 0;

  constructor(options: RecallOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#cache = new AnswerCache(options.maxBytes);
  }

  /**
   * Looks for a response.
   * @param body - of the request, as the host's hook has left it.
   * @returns `undefined` where the client did not ask for the cache.
   */
  visit(incoming: AskingRequest, checked: CheckedCall, body: Uint8Array): CacheVisit | undefined {
    const { mode, ttlMs, maxAnswerBytes } = this.#options;
    const asked = incoming.header(modeHeader)?.trim().toLowerCase();
    if (mode === "ask" && asked !== "on") return undefined;
    const { model, additions, caller, request } = checked;
    const { cache: terms, name } = incoming.operation;
    const wishes = readCacheWishes(incoming.header("cache-control"));
    const isExcluded = asked === "off" || wishes.noStore || additions !== undefined || model.cache === false;
    if (isExcluded || terms === undefined || !terms.allows(body)) return CacheVisit.bypass;
    const headers = terms.headers.map((header) => incoming.header(header));
    const { account } = caller;
    const definition = this.#definitionOf(model);
    const parts = { account, operation: name, model: model.id, definition, stream: request.stream, headers };
    const key = cacheKey(parts, body, terms.ignored);
    const ageMs = Math.min(model.cache?.ttlMs ?? ttlMs, wishes.maxAgeMs);
    const answer = wishes.noCache ? undefined : this.#find(key, ageMs);
    const keep = (kept: CachedAnswer) => this.#cache.set(key, account, kept);
    return new CacheVisit({
      state: answer === undefined ? "miss" : "hit",
      answer,
      keep,
      maxAnswerBytes,
      clock: this.#clock,
    });
  }

  /** What a kept response costs. */
  priceOf({ micro }: CachedAnswer): Micro {
    // Products of decimals are not exact: a trillionth is no micro-credit more.
    return Math.ceil(Number((micro * this.#options.price).toFixed(6)));
  }

  forget(account: string): void {
    this.#cache.forget(account);
  }

  #find(key: string, ageMs: number): CachedAnswer | undefined {
    const answer = this.#cache.get(key);
    return answer !== undefined && this.#clock.now() - answer.keptAt < ageMs ? answer : undefined;
  }

  #definitionOf(model: CatalogModel): number {
    let definition = this.#definitions.get(model);
    if (definition === undefined) {
      definition = ++this.#lastDefinition;
      this.#definitions.set(model, definition);
    }
    return definition;
  }
}
