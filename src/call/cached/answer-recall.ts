import { runtime } from "#runtime";
import type { CatalogModel } from "../../access/catalog.js";
import { cacheKeySteps, type KeyParts } from "../../cache/cache-key.js";
import { type CacheWishes, readCacheWishes } from "../../cache/cache-wishes.js";
import { type CachedAnswer, decodeAnswer, encodeAnswer } from "../../cache/cached-answer.js";
import type { Clock } from "../../ledger/clock.js";
import { type CacheTerms, dependsOnItself } from "../../operations/cache-terms.js";
import type { ComparableRequest, Operation } from "../../operations/operation.js";
import { bySize, type Steps } from "../../wire/slices.js";
import type { CheckedCall } from "../checked-call.js";
import { andThen, type Soon } from "../soon.js";
import type { AnswerCache } from "./answer-cache.js";
import { AnswerKeeper, type KeepingTerms } from "./answer-keeper.js";
import { CacheVisit } from "./cache-visit.js";
import { GatherRoom } from "./gather-room.js";
import type { KeptCharge } from "./kept-charge.js";

/** How responses are kept, resolved. */
export interface RecallOptions {
  /** `ask`: only for requests that say `x-infergate-cache: on`. */
  readonly mode: "ask" | "always";
  readonly ttlMs: number;
  /** Of the copies that are made of streams under way. */
  readonly maxBytes: number;
  readonly maxAnswerBytes: number;
  /** The share of the original charge that a kept response costs. */
  readonly price: number;
}

/** What it works with. */
export interface RecallServices {
  readonly cache: AnswerCache;
  /** Whether other processes have that cache, too. */
  readonly isShared: boolean;
  readonly clock: Clock;
  /** Whether responses say what they cost. */
  readonly exposesCost: boolean;
  /** The names of the guards of answers. */
  readonly guards: readonly string[];
}

/** The part of a request that says what may be kept of it. */
interface AskingRequest {
  readonly operation: Operation;
  header(name: string): string | undefined;
}

/** A request whose response may be kept. */
interface Asked {
  readonly incoming: AskingRequest;
  readonly checked: CheckedCall;
  readonly comparable: ComparableRequest;
  readonly terms: CacheTerms;
  readonly wishes: CacheWishes;
  readonly ttlMs: number;
}

const modeHeader = "x-infergate-cache";

/** Finds responses that were kept for equal requests of an account, and keeps new ones. */
export class AnswerRecall {
  readonly #options: RecallOptions;
  readonly #services: RecallServices;
  readonly #keeping: KeepingTerms;
  /** An update of a model makes another object of it. */
  readonly #definitions = new WeakMap<CatalogModel, string | number>();
  #lastDefinition = 0;
  /** How often accounts were forgotten: calls that began before keep nothing. */
  #forgotten = 0;

  constructor(options: RecallOptions, services: RecallServices) {
    this.#options = options;
    this.#services = services;
    const { maxAnswerBytes, maxBytes } = options;
    const { clock, exposesCost } = services;
    this.#keeping = { maxAnswerBytes, room: new GatherRoom(maxBytes), clock, exposesCost };
  }

  /**
   * Looks for a response.
   * @returns `undefined` where the client did not ask for the cache. A promise where the request is long, or the cache is not
   * in this process.
   */
  visit(incoming: AskingRequest, checked: CheckedCall): Soon<CacheVisit | undefined> {
    const asked = incoming.header(modeHeader)?.trim().toLowerCase();
    if (this.#options.mode === "ask" && asked !== "on") return undefined;
    const { model, additions, request } = checked;
    const { comparable } = request;
    const { cache: terms } = incoming.operation;
    const wishes = readCacheWishes(incoming.header("cache-control"));
    const isExcluded = asked === "off" || wishes.noStore || additions !== undefined || model.cache === false;
    if (isExcluded || terms === undefined || comparable === undefined) return CacheVisit.bypass;
    const ttlMs = (model.cache || undefined)?.ttlMs ?? this.#options.ttlMs;
    const call = { incoming, checked, comparable, terms, wishes, ttlMs };
    const { body, files = [] } = comparable;
    const size = files.reduce((sum, { content }) => sum + content.length, body.length);
    return andThen(bySize(size, this.#keySteps(call)), (key) =>
      key === undefined ? CacheVisit.bypass : this.#look(call, key),
    );
  }

  /** What a kept response costs. */
  chargeOf({ micro: keptMicro }: CachedAnswer): KeptCharge {
    const { price: share } = this.#options;
    // Products of decimals are not exact: a trillionth is no micro-credit more.
    return { micro: Math.ceil(Number((keptMicro * share).toFixed(6))), keptMicro, share };
  }

  /** @throws GatewayError 503 (as a rejection) when the store fails. */
  async forget(account: string): Promise<void> {
    this.#forgotten++;
    await this.#services.cache.forget(account);
  }

  /** The request's key; `undefined`: its response may be another one the next time. */
  *#keySteps({ incoming, checked, comparable, terms }: Asked): Steps<string | undefined> {
    const { ignored, headers } = terms;
    const { name, table } = incoming.operation;
    if (!(yield* dependsOnItself({ request: comparable, table, ignored }))) return undefined;
    const { caller, model, request, demand } = checked;
    const parts: KeyParts = {
      account: caller.account,
      operation: name,
      model: [model.id, model.alias],
      definition: this.#definitionOf(model),
      delivery: request.stream ? "events" : request.wantsBytes === true ? "bytes" : "whole",
      addedCap: demand.addedCap,
      headers: headers.map((header) => incoming.header(header)),
      guarded: this.#guardedBy(checked),
    };
    return yield* cacheKeySteps(parts, comparable, ignored);
  }

  /** A guard may let one caller have what it keeps from another. */
  #guardedBy({ caller, tags }: CheckedCall): KeyParts["guarded"] {
    const { guards } = this.#services;
    if (guards.length === 0) return undefined;
    const sorted = Object.entries(tags ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
    return [guards, caller.source, caller.keyId, caller.plan, sorted];
  }

  #look(asked: Asked, key: string): Soon<CacheVisit> {
    const { account } = asked.checked.caller;
    if (asked.wishes.noCache) return this.#miss(asked, key);
    return andThen(this.#services.cache.get(account, key), (value) => {
      const answer = value && decodeAnswer(value);
      const isFresh = answer !== undefined && this.#isFresh(answer, asked);
      return isFresh ? CacheVisit.hit(answer) : this.#miss(asked, key);
    });
  }

  /** A clock that was set back does not make responses live for longer. */
  #isFresh({ keptAt }: CachedAnswer, { ttlMs, wishes }: Asked): boolean {
    return Math.abs(this.#services.clock.now() - keptAt) < Math.min(ttlMs, wishes.maxAgeMs);
  }

  #miss({ checked, terms, ttlMs }: Asked, key: string): CacheVisit {
    const { account } = checked.caller;
    const begun = this.#forgotten;
    const put = (answer: CachedAnswer): void => {
      if (this.#forgotten === begun) this.#services.cache.put(account, key, encodeAnswer(answer), ttlMs);
    };
    return CacheVisit.miss(new AnswerKeeper(this.#keeping, terms.mayHoldUrls === true, put));
  }

  #definitionOf(model: CatalogModel): string | number {
    let definition = this.#definitions.get(model);
    if (definition === undefined) {
      definition = this.#services.isShared ? this.#digestOf(model) : ++this.#lastDefinition;
      this.#definitions.set(model, definition);
    }
    return definition;
  }

  /** For caches that processes share: how the model is defined, and where its calls go. */
  #digestOf({ definition, route }: CatalogModel): string {
    const { exposesCost } = this.#services;
    // A tokenizer is an object of the host's. What it changes of a request, a cap, is part of the key.
    const terms = { ...definition, tokenizer: undefined };
    const addresses = route.targets.map(({ name, secrets }) => [name, secrets?.().urls]);
    return runtime.sha256(JSON.stringify([terms, addresses, exposesCost]), "base64url");
  }
}
