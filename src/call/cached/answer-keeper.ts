import { Buffer } from "node:buffer";
import type { AnswerFacts, CachedAnswer } from "../../cache/cached-answer.js";
import { idPrefixOf } from "../../cache/fresh-pieces.js";
import { takeApart } from "../../cache/take-apart.js";
import type { Outcome } from "../../events/outcome.js";
import type { GatewayResponse } from "../../http/message.js";
import type { Clock } from "../../ledger/clock.js";
import type { Micro } from "../../metering/micro.js";
import type { ResponseMark } from "../../metering/response-mark.js";
import { refusedFinish } from "../../operations/answers/refused-finish.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { bySize } from "../../wire/slices.js";
import { creditText } from "../admission/credit-text.js";
import { andThen, type Soon } from "../soon.js";
import type { GatherRoom } from "./gather-room.js";
import { KeptStream } from "./kept-stream.js";

/** What all responses are kept by. */
export interface KeepingTerms {
  readonly maxAnswerBytes: number;
  readonly room: GatherRoom;
  readonly clock: Clock;
  /** Whether responses say what they cost. */
  readonly exposesCost: boolean;
}

/** The part of a call that says how it ended. */
export interface EndedCall {
  readonly ending: Outcome | undefined;
  readonly meter: { readonly progress: ResponseMark | undefined } | undefined;
  /** `undefined`: no guard has checked it. */
  readonly review: { readonly hasPassed: boolean } | undefined;
  /** What it was charged. */
  end(ending: Outcome): Soon<{ readonly micro: Micro }>;
}

/** A response with such an end may be another one the next time, or was none of the model's. */
const passingEnds: ReadonlySet<string> = new Set([refusedFinish, "error", "refusal"]);

/** Keeps the response of one call, once it has come to a good end. */
export class AnswerKeeper {
  readonly #terms: KeepingTerms;
  readonly #mayHoldUrls: boolean;
  readonly #put: (answer: CachedAnswer) => void;

  constructor(terms: KeepingTerms, mayHoldUrls: boolean, put: (answer: CachedAnswer) => void) {
    this.#terms = terms;
    this.#mayHoldUrls = mayHoldUrls;
    this.#put = put;
  }

  /** @returns the response, as its client gets it. */
  watch(response: GatewayResponse, call: EndedCall): GatewayResponse {
    const { status, headers, body } = response;
    if (status !== 200 || body === null) return response;
    const contentType = headers["content-type"] ?? "";
    const { maxAnswerBytes: most, room } = this.#terms;
    if (typeof body === "string" || body instanceof Uint8Array) {
      if (body.length <= most) this.#keep(typeof body === "string" ? Buffer.from(body) : body, contentType, call);
      return response;
    }
    const isOver = () => call.ending?.reason === "completed";
    const terms = { most, room, isOver };
    return { ...response, body: new KeptStream(body, terms, (bytes) => this.#keep(bytes, contentType, call)) };
  }

  #keep(bytes: Uint8Array, contentType: string, call: EndedCall): void {
    const { ending, meter, review } = call;
    const { responseId, finishReason } = meter?.progress ?? {};
    if (ending?.reason !== "completed" || ending.error !== undefined || review?.hasPassed === false) return;
    if (bytes.length > this.#terms.maxAnswerBytes || passingEnds.has(finishReason ?? "")) return;
    if (this.#mayHoldUrls && asBuffer(bytes).includes('"http')) return;
    const facts = { contentType, finishReason, keptAt: this.#terms.clock.now() };
    // A response of whose text something is wrong has reached its client all the same.
    try {
      const done = andThen(call.end(ending), ({ micro }) => this.#keepApart(bytes, responseId, { ...facts, micro }));
      if (done instanceof Promise) done.catch(() => {});
    } catch {}
  }

  #keepApart(bytes: Uint8Array, responseId: string | undefined, facts: AnswerFacts): Soon<void> {
    const cost = this.#terms.exposesCost ? creditText(facts.micro) : undefined;
    const apart = bySize(bytes.length, takeApart(bytes, facts.contentType, { responseId, cost }));
    return andThen(apart, ({ body, places, hasId }) => {
      const idPrefix = hasId && responseId !== undefined ? idPrefixOf(responseId) : undefined;
      this.#put({ ...facts, idPrefix, body, places });
    });
  }
}
