import type { CachedAnswer } from "../../cache/cached-answer.js";
import type { GatewayResponse } from "../../http/message.js";
import type { AnswerKeeper, EndedCall } from "./answer-keeper.js";

/** What the cache has for one request, and what it will keep of its response. */
export class CacheVisit {
  /** Nothing is looked for, and nothing is kept. */
  static readonly bypass = new CacheVisit("bypass", undefined, undefined);
  readonly #state: "hit" | "miss" | "bypass";
  /** What was found. */
  readonly answer: CachedAnswer | undefined;
  /** Keeps the response that is made. */
  readonly #keeper: AnswerKeeper | undefined;

  private constructor(
    state: "hit" | "miss" | "bypass",
    answer: CachedAnswer | undefined,
    keeper: AnswerKeeper | undefined,
  ) {
    this.#state = state;
    this.answer = answer;
    this.#keeper = keeper;
  }

  static hit(answer: CachedAnswer): CacheVisit {
    return new CacheVisit("hit", answer, undefined);
  }

  static miss(keeper: AnswerKeeper): CacheVisit {
    return new CacheVisit("miss", undefined, keeper);
  }

  /** Says what the cache had. Others must not keep what is an account's own. */
  mark(headers: Record<string, string>): void {
    const isStream = headers["cache-control"]?.includes("no-transform") === true;
    headers["cache-control"] = isStream ? "private, no-store, no-transform" : "private, no-store";
    headers["x-infergate-cache"] = this.#state;
  }

  /** The response of a call, which is kept once it has come to a good end. */
  kept(response: GatewayResponse, call: EndedCall | undefined): GatewayResponse {
    this.mark(response.headers);
    return call === undefined || this.#keeper === undefined ? response : this.#keeper.watch(response, call);
  }
}
