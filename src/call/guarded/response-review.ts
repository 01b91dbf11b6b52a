import { Buffer } from "node:buffer";
import { type GatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import { noteRefusal } from "../../errors/refusal.js";
import type { RequestObserver } from "../../events/request-observer.js";
import type { GuardReview, GuardRound, ResponseContent, ResponseGuards } from "../../hooks/guard-round.js";
import type { ModelResponse } from "../../prices/progress.js";
import type { Tags } from "../../prices/tags.js";
import type { Exchange, Operation } from "../../protocols/shared/operation.js";
import { refusedFinish } from "../../protocols/shared/response-bounds.js";
import {
  type ReadResponse,
  type ResponseFormat,
  readAnswer,
  readStreamedResponse,
} from "../../protocols/shared/response-format.js";
import type { AbortNotifier } from "../abort-notifier.js";
import type { RelayLimits } from "../call-services.js";
import type { CheckedCall } from "../checked-call.js";
import type { Departure } from "../departure.js";
import { brokenOff } from "../relay/until-aborted.js";
import { GuardedCodec } from "./guarded-codec.js";

/** The part of a call that a review needs. */
export interface ReviewedCall {
  readonly services: { readonly limits: Pick<RelayLimits, "maxResponseBytes"> };
  readonly observer: Pick<RequestObserver, "guarded" | "refused">;
  /** Aborted when the call is broken off. */
  readonly notice: AbortNotifier;
  /** `undefined`: the call ends when its client leaves. */
  readonly departure: Pick<Departure, "hasLeft" | "progress"> | undefined;
  /** Files the call under these, too. */
  tag(tags: Tags): void;
}

/** What ends a client's stream, after its review. */
export interface ReviewedEnd {
  readonly closing: Uint8Array;
  /** The answer that the client gets in place of the model's, as JSON text. */
  readonly instead?: string;
}

/** Runs the host's guards for the answer of one call, and decides what its client gets. */
export class ResponseReview {
  readonly #call: ReviewedCall;
  readonly #round: GuardRound;
  readonly #format: ResponseFormat;
  /** Whether all guards have let the answer pass: none has refused it or failed, not even one that only watches. */
  hasPassed = false;

  constructor(call: ReviewedCall, round: GuardRound, format: ResponseFormat) {
    this.#call = call;
    this.#round = round;
    this.#format = format;
  }

  /**
   * Reviews a whole answer.
   * @returns what its client gets in its place, as JSON text, or as a text where it is one; `undefined`: the answer itself.
   * @throws GatewayError 503 when it could not be checked, UpstreamError `aborted` when the call was broken off.
   */
  async ofWhole({ body, contentType, tokens, estimated }: ModelResponse): Promise<string | undefined> {
    const isText = contentType?.startsWith("text/") === true;
    let answer: ReadResponse | undefined;
    const refusal = await this.#review(() => {
      answer = isText ? this.#format.readWhole({ text: textOf(body) }) : readAnswer(this.#format, body);
      return contentOf(answer, estimated ? undefined : tokens);
    });
    if (refusal === undefined || isText) return refusal;
    return this.#instead(answer, refusal);
  }

  /** A codec of the exchange that collects its stream for {@link ofStream}. */
  collect(exchange: Exchange): GuardedCodec {
    const codec = exchange.readStream();
    const { departure } = this.#call;
    return new GuardedCodec(codec, {
      holds: this.#round.holds,
      maxBytes: this.#call.services.limits.maxResponseBytes,
      overran: () => this.#refuseOverrun(),
      // What is held comes in no piece, and pieces are what bounds the reading for a client that has left.
      heldBack: () => {
        if (departure?.hasLeft === true) departure.progress(codec.progress.tokens.output);
      },
      fresh: () => exchange.readStream(),
    });
  }

  /**
   * Reviews a stream that has come to its end.
   * @param closing - what would end it for its client.
   * @throws as {@link ofWhole}.
   */
  async ofStream(codec: GuardedCodec, closing: Uint8Array): Promise<ReviewedEnd> {
    const { tokens, estimated } = codec.progress;
    let collected: Uint8Array = closing;
    let answer: ReadResponse | undefined;
    const refusal = await this.#review(() => {
      collected = codec.collected;
      answer = readStreamedResponse(this.#format, collected);
      return contentOf(answer, estimated ? undefined : tokens);
    });
    if (refusal === undefined) return { closing: codec.holds ? collected : closing };
    const instead = this.#instead(answer, refusal);
    codec.progress.finishReason = refusedFinish;
    return { closing: this.#format.toStream(JSON.parse(instead)), instead };
  }

  async #review(read: () => ResponseContent): Promise<string | undefined> {
    const { notice } = this.#call;
    const review = await this.#round.review(read, notice);
    if (notice.aborted) throw brokenOff();
    this.#report(review);
    if (review.refusal === undefined && review.isUnchecked) throw this.#unchecked();
    return review.refusal;
  }

  #report({ outcomes, ms, tags }: GuardReview): void {
    this.hasPassed = outcomes.every(({ verdict }) => verdict === "passed");
    this.#call.observer.guarded(outcomes, ms);
    if (tags !== undefined) this.#call.tag(tags);
  }

  #instead(answer: ReadResponse | undefined, words: string): string {
    return JSON.stringify(this.#format.refused(answer?.json ?? {}, words));
  }

  /** @throws GatewayError where too large an answer must not go out. */
  #refuseOverrun(): void {
    if (!this.#round.refusesUnchecked) return;
    const cause = new Error(
      `The answer is over ${this.#call.services.limits.maxResponseBytes} bytes: too large to hold.`,
    );
    this.#report(this.#round.fail(cause));
    const error = this.#unchecked(cause);
    // It says nothing about the target.
    noteRefusal(error);
    throw error;
  }

  #unchecked(cause?: unknown): GatewayError {
    const error = serviceUnavailable("The model's answer cannot be checked at the moment. Try again shortly.", cause);
    this.#call.observer.refused(error.code);
    return error;
  }
}

function contentOf({ texts, finishReasons }: ReadResponse, usage: ResponseContent["usage"]): ResponseContent {
  return { texts, finishReasons, ...(usage === undefined ? undefined : { usage }) };
}

function textOf(body: Uint8Array | string): string {
  return typeof body === "string" ? body : Buffer.from(body).toString();
}

/** The review of a call's answer; `undefined` where the answer has no texts, or no guard is for the call. */
export function reviewOf(
  call: ReviewedCall & { readonly admission: CheckedCall },
  guards: ResponseGuards,
  { answers, name }: Operation,
): ResponseReview | undefined {
  if (answers === undefined) return undefined;
  const { requestId, caller, model, request, tags = {} } = call.admission;
  const { source, account, keyId, plan } = caller;
  const round = guards.select({
    requestId,
    source,
    account,
    ...(keyId === undefined ? undefined : { keyId }),
    plan,
    model: model.id,
    endpoint: name,
    stream: request.stream,
    tags,
  });
  return round && new ResponseReview(call, round, answers);
}
