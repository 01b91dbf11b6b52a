import { Buffer } from "node:buffer";
import { type CachedAnswer, idPrefixOf, piecesOf } from "../../cache/cached-answer.js";
import type { Outcome } from "../../events/outcome.js";
import type { GatewayResponse } from "../../http/message.js";
import type { Clock } from "../../ledger/clock.js";
import type { Micro } from "../../metering/micro.js";
import type { ResponseMark } from "../../metering/response-mark.js";
import { refusedFinish } from "../../operations/answers/refused-finish.js";
import { andThen, type Soon } from "../soon.js";
import { KeptStream } from "./kept-stream.js";

interface VisitFacts {
  readonly state: "hit" | "miss" | "bypass";
  readonly answer: CachedAnswer | undefined;
  readonly keep: (answer: CachedAnswer) => void;
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
}

/** The part of a call that says how it ended. */
export interface EndedCall {
  readonly ending: Outcome | undefined;
  readonly isDeparted: boolean;
  readonly meter: { readonly progress: ResponseMark | undefined } | undefined;
  /** What it was charged. */
  end(ending: Outcome): Soon<{ readonly micro: Micro }>;
}

/** What an entry takes beside its bytes. */
const entryBytes = 512;

/** A response with such an end may be another one the next time, or was none of the model's. */
const passingEnds: ReadonlySet<string> = new Set([refusedFinish, "error", "refusal"]);

/** What the cache has for one request, and what it will keep of its response. */
export class CacheVisit {
  /** Nothing is looked for, and nothing is kept. */
  static readonly bypass = new CacheVisit({
    state: "bypass",
    answer: undefined,
    keep: () => {},
    maxAnswerBytes: 0,
    clock: { now: () => 0 },
  });
  readonly #facts: VisitFacts;

  constructor(facts: VisitFacts) {
    this.#facts = facts;
  }

  /** What was found. */
  get answer(): CachedAnswer | undefined {
    return this.#facts.answer;
  }

  /** Says what the cache had. Others must not keep what is an account's own. */
  mark(headers: Record<string, string>): void {
    const isStream = headers["cache-control"]?.includes("no-transform") === true;
    headers["cache-control"] = isStream ? "private, no-store, no-transform" : "private, no-store";
    headers["x-infergate-cache"] = this.#facts.state;
  }

  /** The response of a call, which is kept once it has come to a good end. */
  kept(response: GatewayResponse, call: EndedCall | undefined): GatewayResponse {
    this.mark(response.headers);
    const { status, headers, body } = response;
    if (this.#facts.state !== "miss" || status !== 200 || call === undefined || body === null) return response;
    const contentType = headers["content-type"] ?? "";
    if (typeof body === "string" || body instanceof Uint8Array) {
      this.#keep(Buffer.from(body), contentType, call);
      return response;
    }
    const ended = (bytes: Buffer) => this.#keep(bytes, contentType, call);
    return { ...response, body: new KeptStream(body, this.#facts.maxAnswerBytes, ended) };
  }

  #keep(bytes: Buffer, contentType: string, call: EndedCall): void {
    const { keep, maxAnswerBytes, clock } = this.#facts;
    const { ending, meter, isDeparted } = call;
    const { responseId, finishReason } = meter?.progress ?? {};
    if (ending?.reason !== "completed" || ending.error !== undefined || isDeparted) return;
    if (bytes.length > maxAnswerBytes || passingEnds.has(finishReason ?? "")) return;
    const answer = {
      pieces: piecesOf(bytes, responseId),
      idPrefix: idPrefixOf(responseId),
      contentType,
      finishReason,
      keptAt: clock.now(),
      size: bytes.length + entryBytes,
    };
    void andThen(call.end(ending), ({ micro }) => keep({ ...answer, micro }));
  }
}
