import type { CachedAnswer } from "../../cache/cached-answer.js";
import { type FreshValues, freshBytes, freshId, freshPieces } from "../../cache/fresh-pieces.js";
import { GatewayError } from "../../errors/gateway-error.js";
import type { GatewayResponse } from "../../http/message.js";
import { noTokens } from "../../metering/token-counts.js";
import type { ReceivedCall } from "../admission/check-call.js";
import { addCreditHeaders, addRateHeaders } from "../admission/credit-headers.js";
import { creditText } from "../admission/credit-text.js";
import { holdCredits, type Reservation } from "../admission/hold-credits.js";
import type { CallServices } from "../call-services.js";
import { CallSettlement, type SettledCharge } from "../call-settlement.js";
import type { CheckedCall } from "../checked-call.js";
import { clientLeft } from "../relay/abort-error.js";
import { streamHeaders } from "../relay/stream-headers.js";
import type { CacheVisit } from "./cache-visit.js";
import type { KeptCharge } from "./kept-charge.js";

/** Responds with what was kept. No target is called; the ledger is only where a kept response costs something. */
export class CacheReplay {
  readonly #services: CallServices;
  readonly #incoming: ReceivedCall;
  readonly #checked: CheckedCall;
  readonly #visit: CacheVisit;
  readonly #answer: CachedAnswer;

  constructor(
    services: CallServices,
    incoming: ReceivedCall,
    checked: CheckedCall,
    visit: CacheVisit,
    answer: CachedAnswer,
  ) {
    this.#services = services;
    this.#incoming = incoming;
    this.#checked = checked;
    this.#visit = visit;
    this.#answer = answer;
  }

  async run(): Promise<GatewayResponse> {
    const { answerRecall, openCalls } = this.#services;
    const charge = answerRecall?.chargeOf(this.#answer);
    if (charge === undefined || charge.micro === 0) return this.#respond(free());
    const number = openCalls.expect();
    try {
      return await this.#charge(charge);
    } finally {
      openCalls.giveUp(number);
    }
  }

  async #charge(charge: KeptCharge): Promise<GatewayResponse> {
    const { request, observer } = this.#incoming;
    // As any call: what it costs less than one is not held back for long.
    const held = await holdCredits(this.#services, this.#checked, observer.ledgerOperation);
    if (held instanceof GatewayError) return this.#incoming.respond(held);
    if (held === undefined) return this.#respond(free());
    const settlement = new CallSettlement(this.#services, this.#checked, held, observer.ledgerOperation);
    if (request.signal.aborted) {
      await settlement.release();
      throw clientLeft();
    }
    observer.admitted(this.#checked.callId, held.heldMicro);
    return this.#respond(await settlement.chargeKept(charge), held);
  }

  #respond(settled: SettledCharge, held?: Reservation): GatewayResponse {
    const incoming = this.#incoming;
    const answer = this.#answer;
    const now = this.#services.clock.now();
    const callId = incoming.callId.slice(incoming.callId.indexOf("_") + 1);
    const values = { callId, now, cost: creditText(settled.micro) };
    const headers = this.#headers(settled, held);
    headers["age"] = String(Math.max(0, Math.floor((now - answer.keptAt) / 1000)));
    this.#visit.mark(headers);
    const body = this.#body(values);
    const { finishReason } = answer;
    const responseId = freshId(answer.idPrefix, callId);
    incoming.observer.ended({ reason: "completed" }, settled, { responseId, finishReason });
    return incoming.respond({ status: 200, headers, body });
  }

  /** What comes in pieces is made as its client takes it. */
  #body(values: FreshValues): Uint8Array | AsyncIterable<Uint8Array> {
    const { texts } = this.#incoming.observer;
    const answer = this.#answer;
    if (this.#isWhole) {
      const bytes = freshBytes(answer, values);
      texts?.answered(bytes);
      return bytes;
    }
    if (texts !== undefined) for (const piece of freshPieces(answer, values)) texts.streamed(piece);
    return laterPieces(answer, values);
  }

  #headers({ micro, credits }: SettledCharge, held: Reservation | undefined): Record<string, string> {
    const { contentType } = this.#answer;
    const headers = this.#isWhole
      ? { "content-type": contentType, "x-credits-charged": creditText(micro) }
      : { ...streamHeaders(), "content-type": contentType };
    return credits === undefined
      ? headers
      : addRateHeaders(addCreditHeaders(headers, credits), credits.rates, held?.rules);
  }

  get #isWhole(): boolean {
    const { stream, wantsBytes } = this.#checked.request;
    return !stream && wantsBytes !== true;
  }
}

function free(): SettledCharge {
  const tokens = { ...noTokens };
  return { micro: 0, tokens, source: "cache", credits: undefined, funding: undefined, prepaidMicro: 0 };
}

async function* laterPieces(answer: CachedAnswer, values: FreshValues): AsyncGenerator<Uint8Array, undefined> {
  yield* freshPieces(answer, values);
}
