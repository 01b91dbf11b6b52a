import { Buffer } from "node:buffer";
import { badGateway, type GatewayError, isGatewayError } from "../../errors/gateway-error.js";
import { askedTooMuch, isAskedTooMuch, noteRefusal, usedForTooMuch } from "../../errors/refusal.js";
import type { GatewayResponse } from "../../http/message.js";
import type { ModelAnswer, Progress } from "../../prices/progress.js";
import type { UsageCounts } from "../../prices/usage-counts.js";
import type { Exchange } from "../../protocols/shared/operation.js";
import { refusedFinish } from "../../protocols/shared/response-bounds.js";
import type { DirectAnswer } from "../../providers/direct-call.js";
import { asBuffer, TooLargeError } from "../../wire/bytes.js";
import { addCreditHeaders, addRateHeaders } from "../admission/credit-headers.js";
import { creditText } from "../admission/credit-text.js";
import type { Attempt, Relayed } from "../attempt.js";
import type { AnswerReview } from "../guarded/answer-review.js";
import { clientLeft } from "./abort-error.js";
import { membersFault } from "./few-members.js";
import { toUpstreamFailure } from "./send.js";
import { readUntilAborted } from "./until-aborted.js";

/**
 * Relays a whole response. Until it is complete, the client has received nothing: a failure gets a status of its own and is
 * free. Only who leaves pays for what the model has done, and who asks for more than is passed on.
 * @throws GatewayError, or {@link UpstreamError} `aborted`.
 */
export async function respondWhole(attempt: Attempt, exchange: Exchange, answer: DirectAnswer): Promise<Relayed> {
  const { call, meter, keyMask } = attempt;
  const relay = new WholeRelay(attempt, exchange);
  meter.progress = relay;
  // How much is read after the client has left must not depend on the pieces in which it arrives.
  const complete = call.departure === undefined ? answer.takeWhole?.() : undefined;
  const body = complete ?? (await relay.receive(answer.body));
  relay.received(body);
  const looked = membersFault(body);
  if (looked !== undefined) relay.requireFew(await looked);
  const masked = keyMask?.hide(body) ?? body;
  try {
    const read = exchange.readWhole(masked);
    relay.answer = read instanceof Promise ? await read : read;
  } catch (error) {
    // For example, JSON that is nested too deep to be written again.
    throw relay.failureOf(error, masked);
  }
  // Once the answer is read, its client may have left, or another target may have taken this one's place.
  if (call.abortReason === "client_gone") throw clientLeft();
  attempt.commit();
  const { review } = call;
  return review === undefined ? await relay.respond() : { whenReviewed: () => relay.respondReviewed(review) };
}

/** Nothing is added to it: the first piece makes a list of its own. */
const noPieces: Uint8Array[] = [];

/** A whole response on its way to the client, which gets nothing before its end. */
class WholeRelay implements Progress {
  readonly hasOutput = false;
  readonly awaitsUsage = false;
  readonly reasons = false;
  readonly #attempt: Attempt;
  readonly #exchange: Exchange;
  #pieces: Uint8Array[] = noPieces;
  answer: ModelAnswer | undefined;

  constructor(attempt: Attempt, exchange: Exchange) {
    this.#attempt = attempt;
    this.#exchange = exchange;
  }

  async receive(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
    const exchange = this.#exchange;
    const { call, notice } = this.#attempt;
    const pieces: Uint8Array[] = [];
    this.#pieces = pieces;
    let received = 0;
    try {
      await readUntilAborted(notice, body, (piece) => {
        // A host's own provider may yield anything.
        pieces.push(asBuffer(piece));
        received += piece.length;
        call.departure?.progress(exchange.bytesAreTokens === false ? 0 : exchange.partialTokens(pieces).output);
        return received <= this.#maxBytes;
      });
    } catch (error) {
      noteRefusal(error);
      throw toUpstreamFailure(error);
    }
    const [only] = pieces;
    return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
  }

  /** @throws GatewayError where it is larger than what is passed on. */
  received(body: Uint8Array): void {
    if (body.length > this.#maxBytes) throw this.#outgrown();
    // Whoever leaves while a long answer is being read pays for what has come of it.
    this.#pieces = [body];
  }

  /** @throws GatewayError where it has too many members. */
  requireFew(fault: Error | undefined): void {
    if (fault instanceof TooLargeError) throw this.#outgrown(fault.message);
    if (fault !== undefined) throw tooLarge(fault.message);
  }

  failureOf(error: unknown, body: Uint8Array): Error {
    const failure = toUpstreamFailure(error);
    if (isGatewayError(failure) && isAskedTooMuch(failure)) {
      const used = usedForTooMuch(failure);
      this.#attempt.meter.outgrewWith({
        tokens: used ?? this.#exchange.partialTokens([body]),
        source: used === undefined ? "partial" : "provider",
      });
    }
    return failure;
  }

  /** Settles the call. @param instead - what the client gets in place of the answer: see {@link Exchange.keep}. */
  async respond(instead?: string): Promise<GatewayResponse> {
    const { call } = this.#attempt;
    const body = instead ?? this.answer?.body ?? "";
    call.observer.texts?.answered(body);
    const { micro, credits } = await this.#attempt.end({ reason: "completed" });
    if (this.#exchange.keep !== undefined) await this.#exchange.keep(instead);
    if (call.departure?.hasLeft) throw clientLeft();
    const headers: Record<string, string> = {
      "content-type": this.answer?.contentType ?? "application/json",
      "x-credits-charged": creditText(micro),
    };
    if (credits !== undefined) {
      addRateHeaders(addCreditHeaders(headers, credits), credits.rates, call.settlement.reservation?.rules);
    }
    return { status: 200, headers, body };
  }

  /** @throws GatewayError when the answer could not be checked. The upstream has done its work: the call is charged. */
  async respondReviewed(review: AnswerReview): Promise<GatewayResponse> {
    const answer = this.answer as ModelAnswer;
    let instead: string | undefined;
    try {
      instead = await review.ofWhole(answer);
    } catch (error) {
      if (isGatewayError(error)) await this.#attempt.end({ reason: "completed" });
      throw error;
    }
    if (instead !== undefined) this.answer = { ...answer, finishReason: refusedFinish };
    return await this.respond(instead);
  }

  #outgrown(problem = `Its answer is over ${this.#maxBytes} bytes (maxResponseBytes).`): GatewayError {
    return this.#attempt.meter.outgrew() ? askedTooMuch(problem) : tooLarge(problem);
  }

  get #maxBytes(): number {
    return this.#attempt.call.services.limits.maxResponseBytes;
  }

  /** A client may leave while guards check the answer. */
  get isCounted(): boolean {
    return this.answer?.estimated === false;
  }

  get tokens(): UsageCounts {
    return this.answer?.tokens ?? this.#exchange.partialTokens(this.#pieces);
  }

  get estimated(): boolean {
    return this.answer?.estimated ?? true;
  }

  get unpriced(): string | undefined {
    return this.answer?.unpriced;
  }

  get responseId(): string | undefined {
    return this.answer?.responseId;
  }

  get finishReason(): string | undefined {
    return this.answer?.finishReason;
  }
}

/** No request leads to such an answer. @param problem - for the operator. */
function tooLarge(problem: string): GatewayError {
  return badGateway("The model's answer is too large.", { cause: new Error(problem) });
}
