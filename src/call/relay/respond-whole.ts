import { Buffer } from "node:buffer";
import { askedTooMuch, isAskedTooMuch, usedForTooMuch } from "../../errors/asked-too-much.js";
import { badGateway, type GatewayError, isGatewayError } from "../../errors/gateway-error.js";
import { noteRefusal } from "../../errors/provider-refusal.js";
import type { GatewayResponse } from "../../http/message.js";
import type { ModelAnswer } from "../../metering/model-answer.js";
import type { Progress } from "../../metering/progress.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import { refusedFinish } from "../../operations/answers/refused-finish.js";
import type { Exchange } from "../../operations/operation.js";
import type { DirectAnswer } from "../../providers/direct-call.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { TooLargeError } from "../../wire/too-large-error.js";
import { addCreditHeaders } from "../admission/credit-headers.js";
import { creditText } from "../admission/credit-text.js";
import type { Attempt, AttemptListener, Relayed } from "../attempt.js";
import type { SettledCharge } from "../call-settlement.js";
import type { AnswerReview } from "../guarded/answer-review.js";
import { addRateHeaders } from "../limits/rate-headers.js";
import type { Soon } from "../soon.js";
import { clientLeft } from "./abort-error.js";
import { membersFault } from "./few-members.js";
import { type AnswerReceiver, send, toUpstreamFailure } from "./send.js";
import { type BodyReader, readUntilAborted } from "./until-aborted.js";

/**
 * Sends a request, and relays its whole response. Until it is complete, the client has received nothing: a failure gets a
 * status of its own and is free. Only who leaves pays for what the model has done, and who asks for more than is passed on.
 */
export function respondWhole(attempt: Attempt, exchange: Exchange, listener: AttemptListener): void {
  send(attempt, exchange, new WholeRelay(attempt, exchange, listener));
}

/** Nothing is added to it: the first piece makes a list of its own. */
const noPieces: Uint8Array[] = [];

/** A whole response on its way to the client, which gets nothing before its end. */
class WholeRelay implements Progress, AnswerReceiver, BodyReader {
  readonly hasOutput = false;
  readonly awaitsUsage = false;
  readonly reasons = false;
  readonly #attempt: Attempt;
  readonly #exchange: Exchange;
  readonly #listener: AttemptListener;
  /** What comes after the first failure, or after the end, has no meaning. */
  #isOver = false;
  #pieces: Uint8Array[] = noPieces;
  /** In bytes. */
  #received = 0;
  #answer: ModelAnswer | undefined;

  constructor(attempt: Attempt, exchange: Exchange, listener: AttemptListener) {
    this.#attempt = attempt;
    this.#exchange = exchange;
    this.#listener = listener;
  }

  answered(answer: DirectAnswer): void {
    const { call, meter, notice } = this.#attempt;
    call.observer.attemptAnswered();
    meter.progress = this;
    // How much is read after the client has left must not depend on the pieces in which it arrives.
    const complete = call.departure === undefined ? answer.takeWhole?.() : undefined;
    if (complete === undefined) readUntilAborted(notice, answer.body, this);
    else this.#complete(complete);
  }

  take(piece: Uint8Array): boolean {
    // A host's own provider may yield anything.
    const bytes = asBuffer(piece);
    // An empty list that grows takes room for 17.
    if (this.#received === 0) this.#pieces = [bytes];
    else this.#pieces.push(bytes);
    this.#received += piece.length;
    const { departure } = this.#attempt.call;
    departure?.progress(
      this.#exchange.bytesAreTokens === false ? 0 : this.#exchange.partialTokens(this.#pieces).output,
    );
    return this.#received <= this.#maxBytes;
  }

  ended(): void {
    const [only] = this.#pieces;
    this.#complete(this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces));
  }

  failed(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#failLater(error);
  }

  brokeOff(error: unknown): void {
    noteRefusal(error);
    this.failed(toUpstreamFailure(error));
  }

  #complete(body: Uint8Array): void {
    if (this.#isOver) return;
    this.#isOver = true;
    let response: Soon<Relayed>;
    try {
      if (body.length > this.#maxBytes) throw this.#outgrown();
      response = this.#respond(body);
    } catch (error) {
      this.#failLater(error);
      return;
    }
    if (response instanceof Promise) {
      // Whoever leaves while a long answer is being read pays for what has come of it.
      if (this.#answer === undefined) this.#pieces = [body];
      this.#respondLater(response);
    } else this.#listener.responded(this.#attempt, response);
  }

  #respondLater(response: Promise<Relayed>): void {
    response.then(
      (relayed) => this.#listener.responded(this.#attempt, relayed),
      (error) => this.#listener.failed(this.#attempt, error),
    );
  }

  #failLater(error: unknown): void {
    queueMicrotask(() => this.#listener.failed(this.#attempt, error));
  }

  #outgrown(problem = `Its answer is over ${this.#maxBytes} bytes (maxAnswerBytes).`): GatewayError {
    return this.#attempt.meter.outgrew() ? askedTooMuch(problem) : tooLarge(problem);
  }

  get #maxBytes(): number {
    return this.#attempt.call.services.limits.maxAnswerBytes;
  }

  #respond(body: Uint8Array): Soon<Relayed> {
    const fault = membersFault(body);
    return fault === undefined ? this.#readAndRelay(body) : this.#readUnless(fault, body);
  }

  async #readUnless(looked: Promise<Error | undefined>, body: Uint8Array): Promise<Relayed> {
    const fault = await looked;
    if (fault instanceof TooLargeError) throw this.#outgrown(fault.message);
    if (fault !== undefined) throw tooLarge(fault.message);
    return await this.#readAndRelay(body);
  }

  #readAndRelay(body: Uint8Array): Soon<Relayed> {
    const answer = this.#read(this.#attempt.keyMask?.hide(body) ?? body);
    return answer instanceof Promise ? answer.then((read) => this.#relay(read)) : this.#relay(answer);
  }

  #read(body: Uint8Array): Soon<ModelAnswer> {
    try {
      const answer = this.#exchange.readWhole(body);
      return answer instanceof Promise ? answer.catch((error) => this.#throwFailure(error, body)) : answer;
    } catch (error) {
      // For example, JSON that is nested too deep to be written again.
      return this.#throwFailure(error, body);
    }
  }

  #throwFailure(error: unknown, body: Uint8Array): never {
    const failure = toUpstreamFailure(error);
    if (isGatewayError(failure) && isAskedTooMuch(failure)) {
      const used = usedForTooMuch(failure);
      this.#attempt.meter.outgrewWith({
        tokens: used ?? this.#exchange.partialTokens([body]),
        source: used === undefined ? "partial" : "provider",
      });
    }
    throw failure;
  }

  #relay(answer: ModelAnswer): Soon<Relayed> {
    this.#answer = answer;
    const { review, abortReason } = this.#attempt.call;
    // Once the answer is read, its client may have left, or another target may have taken this one's place.
    if (abortReason === "client_gone") throw clientLeft();
    this.#attempt.commit();
    if (review === undefined) return this.#end(answer.body);
    return { whenReviewed: () => this.#respondReviewed(answer, review) };
  }

  /** @throws GatewayError when the answer could not be checked. The upstream has done its work: the call is charged. */
  async #respondReviewed(answer: ModelAnswer, review: AnswerReview): Promise<GatewayResponse> {
    let instead: string | undefined;
    try {
      instead = await review.ofWhole(answer);
    } catch (error) {
      if (isGatewayError(error)) await this.#attempt.end({ reason: "completed" });
      throw error;
    }
    if (instead !== undefined) this.#answer = { ...answer, finishReason: refusedFinish };
    return await this.#end(instead ?? answer.body, instead);
  }

  /** Settles the call. @param instead - see {@link Exchange.keep}. */
  #end(body: Uint8Array | string, instead?: string): Soon<GatewayResponse> {
    this.#attempt.call.observer.texts?.answered(body);
    const charge = this.#attempt.end({ reason: "completed" });
    const isThere = this.#exchange.keep === undefined && !(charge instanceof Promise);
    return isThere ? this.#toResponse(body, charge) : this.#endLater(body, charge, instead);
  }

  async #endLater(body: Uint8Array | string, charged: Soon<SettledCharge>, instead?: string): Promise<GatewayResponse> {
    const charge = await charged;
    await this.#exchange.keep?.(instead);
    return this.#toResponse(body, charge);
  }

  #toResponse(body: Uint8Array | string, { micro, credits }: SettledCharge): GatewayResponse {
    const { departure, settlement } = this.#attempt.call;
    if (departure?.hasLeft) throw clientLeft();
    const headers: Record<string, string> = {
      "content-type": this.#answer?.contentType ?? "application/json",
      "x-credits-charged": creditText(micro),
    };
    if (credits !== undefined) {
      addRateHeaders(addCreditHeaders(headers, credits), credits.rates, settlement.reservation?.rules);
    }
    return { status: 200, headers, body };
  }

  /** A client may leave while guards check the answer. */
  get isCounted(): boolean {
    return this.#answer?.estimated === false;
  }

  get tokens(): UsageCounts {
    return this.#answer?.tokens ?? this.#exchange.partialTokens(this.#pieces);
  }

  get estimated(): boolean {
    return this.#answer?.estimated ?? true;
  }

  get unpriced(): string | undefined {
    return this.#answer?.unpriced;
  }

  get responseId(): string | undefined {
    return this.#answer?.responseId;
  }

  get finishReason(): string | undefined {
    return this.#answer?.finishReason;
  }
}

/** No request leads to such an answer. @param problem - for the operator. */
function tooLarge(problem: string): GatewayError {
  return badGateway("The model's answer is too large.", { cause: new Error(problem) });
}
