import { Buffer } from "node:buffer";
import { badGateway, type GatewayError, isGatewayError } from "../../errors/gateway-error.js";
import { askedTooMuch, isAskedTooMuch, noteRefusal, usedForTooMuch } from "../../errors/refusal.js";
import type { GatewayResponse } from "../../http/message.js";
import type { ModelResponse, Progress } from "../../prices/progress.js";
import type { UsageCounts } from "../../prices/usage-counts.js";
import type { Exchange } from "../../protocols/shared/operation.js";
import { refusedFinish } from "../../protocols/shared/response-bounds.js";
import type { DirectResponse } from "../../providers/direct-call.js";
import { asBuffer, TooLargeError } from "../../wire/bytes.js";
import { addCreditHeaders, addRateHeaders, creditText } from "../admission/credit-headers.js";
import type { Attempt } from "../attempt.js";
import type { ResponseReview } from "../guarded/response-review.js";
import { clientLeft } from "./abort-error.js";
import { membersFault } from "./few-members.js";
import { toUpstreamFailure } from "./send.js";
import { readUntilAborted } from "./until-aborted.js";

/**
 * Relays a whole response. Until it is complete, the client has received nothing: a failure gets a status of its own and is
 * free. Only who leaves pays for what the model has done, and who asks for more than is passed on.
 * @throws GatewayError, or {@link UpstreamError} `aborted`. Once the attempt is committed: what ends the call.
 */
export async function respondWhole(
  attempt: Attempt,
  exchange: Exchange,
  response: DirectResponse,
): Promise<GatewayResponse> {
  const { call, meter, keyMask } = attempt;
  const { departure, observer, review, settlement } = call;
  const relay = new WholeRelay(attempt, exchange);
  meter.progress = relay;
  // How much is read after the client has left must not depend on the pieces in which it arrives.
  const complete = departure === undefined ? response.takeWhole?.() : undefined;
  try {
    if (complete === undefined) await readUntilAborted(attempt.notice, response.body, (piece) => relay.take(piece));
  } catch (error) {
    noteRefusal(error);
    throw toUpstreamFailure(error);
  }
  const body = relay.received(complete);
  attempt.cameWhole();
  const looked = membersFault(body);
  if (looked !== undefined) relay.requireFew(await looked);
  const masked = keyMask?.hide(body) ?? body;
  let answer: ModelResponse;
  try {
    const read = exchange.readWhole(masked);
    answer = read instanceof Promise ? await read : read;
  } catch (error) {
    // For example, JSON that is nested too deep to be written again.
    throw relay.failureOf(error, masked);
  }
  relay.answer = answer;
  // Once the answer is read, its client may have left, or another target may have taken this one's place.
  if (call.abortReason === "client_gone") throw clientLeft();
  attempt.commit();

  const instead = review === undefined ? undefined : await reviewWhole(attempt, review, answer);
  if (instead !== undefined) relay.answer = { ...relay.answer, finishReason: refusedFinish };
  const text = instead ?? answer.body;
  observer.texts?.answered(text);
  const { micro, credits } = await attempt.end({ reason: "completed" });
  if (exchange.keep !== undefined) await exchange.keep(instead);
  if (departure?.hasLeft) throw clientLeft();
  const headers: Record<string, string> = {
    "content-type": answer.contentType ?? "application/json",
    "x-credits-charged": creditText(micro),
  };
  if (credits !== undefined) {
    addRateHeaders(addCreditHeaders(headers, credits), credits.rates, settlement.reservation?.rules);
  }
  return { status: 200, headers, body: text };
}

/**
 * Has the host's guards check a response.
 * @returns what the client gets in its place, if anything: see {@link Exchange.keep}.
 * @throws GatewayError when it could not be checked. The upstream has done its work: the call is charged.
 */
async function reviewWhole(
  attempt: Attempt,
  review: ResponseReview,
  answer: ModelResponse,
): Promise<string | undefined> {
  try {
    return await review.ofWhole(answer);
  } catch (error) {
    if (isGatewayError(error)) await attempt.end({ reason: "completed" });
    throw error;
  }
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
  #length = 0;
  answer: ModelResponse | undefined;

  constructor(attempt: Attempt, exchange: Exchange) {
    this.#attempt = attempt;
    this.#exchange = exchange;
  }

  /** A piece has come. @returns whether to read on. */
  take(piece: Uint8Array): boolean {
    if (this.#pieces === noPieces) this.#pieces = [];
    // A host's own provider may yield anything.
    this.#pieces.push(asBuffer(piece));
    this.#length += piece.length;
    const { departure } = this.#attempt.call;
    if (departure !== undefined) {
      departure.progress(
        this.#exchange.bytesAreTokens === false ? 0 : this.#exchange.partialTokens(this.#pieces).output,
      );
    }
    return this.#length <= this.#maxBytes;
  }

  /**
   * All of it has come. @param complete - in one piece; `undefined`: in those that were taken.
   * @throws GatewayError where it is larger than what is passed on.
   */
  received(complete: Uint8Array | undefined): Uint8Array {
    const [only] = this.#pieces;
    const body = complete ?? (this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces));
    if (body.length > this.#maxBytes) throw this.#outgrown();
    // Whoever leaves while a long answer is being read pays for what has come of it.
    this.#pieces = [body];
    return body;
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
