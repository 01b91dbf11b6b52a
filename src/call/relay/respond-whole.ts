import { Buffer } from "node:buffer";
import { badGateway, type GatewayError, isGatewayError } from "../../errors/gateway-error.js";
import { noteRefusal } from "../../errors/provider-refusal.js";
import type { GatewayResponse } from "../../http/message.js";
import { guessTokens } from "../../metering/guess-tokens.js";
import type { ModelAnswer } from "../../metering/model-answer.js";
import type { Progress } from "../../metering/progress.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { refusedFinish } from "../../operations/answers/refused-finish.js";
import type { Exchange } from "../../operations/operation.js";
import { addCreditHeaders } from "../admission/credit-headers.js";
import { creditText } from "../admission/credit-text.js";
import type { SettledCharge } from "../call-settlement.js";
import type { AnswerReview } from "../guarded/answer-review.js";
import { addRateHeaders } from "../limits/rate-headers.js";
import { clientLeft } from "./abort-error.js";
import { hasTooManyMembers, mostAnswerMembers } from "./few-members.js";
import type { HeldResponse } from "./held-response.js";
import { toUpstreamFailure } from "./send.js";
import type { TargetResponse } from "./target-response.js";
import { readUntilAborted } from "./until-aborted.js";

/**
 * Relays a whole response. Until it is complete, the client has received nothing: a failure gets a status of its own
 * and is free. Only a client that leaves pays for what the model has done.
 *
 * @throws GatewayError, or {@link UpstreamError} `aborted`.
 */
export async function respondWhole(response: TargetResponse): Promise<GatewayResponse | HeldResponse> {
  const { attempt, exchange } = response;
  const progress = new WholeProgress(exchange);
  attempt.meter.progress = progress;
  const body = await readBody(response, progress);
  const isTooDense = hasTooManyMembers(body);
  if (isTooDense !== false && (await isTooDense))
    throw tooLarge(`${mostAnswerMembers(body.length)} members, lists and objects`);
  let answer: ModelAnswer;
  try {
    const read = exchange.readWhole(body);
    answer = read instanceof Promise ? await read : read;
  } catch (error) {
    // For example, JSON that is nested too deep to be written again.
    throw toUpstreamFailure(error);
  }
  progress.answer = answer;
  const { review } = attempt.call;
  if (review !== undefined) {
    attempt.commit();
    return { whenReviewed: () => respondReviewed(response, progress, answer, review) };
  }
  const charge = await attempt.end({ reason: "completed" });
  await exchange.keep?.();
  return toResponse(response, answer.body, charge);
}

/** @throws GatewayError when the answer could not be checked. The upstream has done its work: the call is charged. */
async function respondReviewed(
  response: TargetResponse,
  progress: WholeProgress,
  answer: ModelAnswer,
  review: AnswerReview,
): Promise<GatewayResponse> {
  const { attempt, exchange } = response;
  let instead: string | undefined;
  try {
    instead = await review.ofWhole(answer);
  } catch (error) {
    if (isGatewayError(error)) await attempt.end({ reason: "completed" });
    throw error;
  }
  if (instead !== undefined) progress.answer = { ...answer, finishReason: refusedFinish };
  const charge = await attempt.end({ reason: "completed" });
  await exchange.keep?.(instead);
  return toResponse(response, instead ?? answer.body, charge);
}

function toResponse(
  { attempt }: TargetResponse,
  body: Uint8Array | string,
  { micro, credits }: SettledCharge,
): GatewayResponse {
  if (attempt.call.departure?.hasLeft) throw clientLeft();
  const headers: Record<string, string> = {
    "content-type": "application/json",
    "x-credits-charged": creditText(micro),
  };
  if (credits !== undefined) {
    const rules = attempt.call.settlement.reservation?.rules;
    addRateHeaders(addCreditHeaders(headers, credits), credits.rates, rules);
  }
  return { status: 200, headers, body };
}

async function readBody({ attempt, answer }: TargetResponse, progress: WholeProgress): Promise<Uint8Array> {
  const { departure, services } = attempt.call;
  const { maxAnswerBytes } = services.limits;
  // How much is read after the client has left must not depend on the pieces in which it arrives.
  const complete = departure === undefined ? answer.takeWhole?.() : undefined;
  if (complete !== undefined) {
    if (complete.length > maxAnswerBytes) throw tooLarge(`${maxAnswerBytes} bytes`);
    return complete;
  }
  const take = (piece: Uint8Array): boolean => {
    progress.took(piece);
    departure?.progress(guessTokens(progress.received));
    return progress.received <= maxAnswerBytes;
  };
  try {
    await readUntilAborted(attempt.notice, answer.body, take);
  } catch (error) {
    noteRefusal(error);
    throw toUpstreamFailure(error);
  }
  if (progress.received > maxAnswerBytes) throw tooLarge(`${maxAnswerBytes} bytes`);
  return progress.bytes;
}

/** @param bound - over which it is. */
function tooLarge(bound: string): GatewayError {
  return badGateway("The model's answer is too large.", { cause: new Error(`It is over ${bound}.`) });
}

/** The progress of a whole response. The client gets nothing before its end. */
class WholeProgress implements Progress {
  readonly #pieces: Uint8Array[] = [];
  #received = 0;
  answer: ModelAnswer | undefined;
  readonly hasOutput = false;
  readonly awaitsUsage = false;
  readonly reasons = false;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  took(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#received += piece.length;
  }

  /** In bytes. */
  get received(): number {
    return this.#received;
  }

  /** All that has come. */
  get bytes(): Uint8Array {
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
  }

  /** A client may leave while guards check the answer. */
  get isCounted(): boolean {
    return this.answer?.estimated === false;
  }

  get tokens(): TokenCounts {
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
