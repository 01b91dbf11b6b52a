import type { CachedAnswer } from "../../cache/cached-answer.js";
import { type FreshValues, freshBytes, freshId, freshPieces } from "../../cache/fresh-pieces.js";
import { GatewayError } from "../../errors/gateway-error.js";
import { noTokens } from "../../metering/token-counts.js";
import { addCreditHeaders } from "../admission/credit-headers.js";
import { creditText } from "../admission/credit-text.js";
import { holdCredits, type Reservation } from "../admission/hold-credits.js";
import { type CallRoad, giveUp, goOn } from "../call-road.js";
import { CallSettlement, type SettledCharge } from "../call-settlement.js";
import type { CheckedCall } from "../checked-call.js";
import { addRateHeaders } from "../limits/rate-headers.js";
import { observedCharge } from "../observed/observed-charge.js";
import { observedHold } from "../observed/observed-hold.js";
import { clientLeft } from "../relay/abort-error.js";
import { streamHeaders } from "../relay/stream-headers.js";
import type { CacheVisit } from "./cache-visit.js";
import type { KeptCharge } from "./kept-charge.js";

/** Responds with what was kept. No target is called; the ledger is only where a kept response costs something. */
export class CacheReplay {
  readonly #road: CallRoad;
  readonly #checked: CheckedCall;
  readonly #visit: CacheVisit;
  readonly #answer: CachedAnswer;

  constructor(road: CallRoad, checked: CheckedCall, visit: CacheVisit, answer: CachedAnswer) {
    this.#road = road;
    this.#checked = checked;
    this.#visit = visit;
    this.#answer = answer;
  }

  run(): void {
    const { services } = this.#road;
    const charge = services.answerRecall?.chargeOf(this.#answer);
    if (charge === undefined || charge.micro === 0) {
      this.#respond(free());
      return;
    }
    this.#road.number = services.openCalls.expect();
    const { ledgerOperation } = this.#road.incoming.observer;
    // As any call: what it costs less than one is not held back for long.
    const held =
      ledgerOperation === undefined
        ? holdCredits(services, this.#checked)
        : observedHold(services, this.#checked, ledgerOperation);
    goOn(this.#road, held, (_, reserved) => this.#charge(reserved, charge));
  }

  #charge(held: Reservation | GatewayError | undefined, charge: KeptCharge): void {
    const road = this.#road;
    const { request, observer } = road.incoming;
    if (held instanceof GatewayError) {
      const refusal = road.incoming.respond(held);
      giveUp(road);
      road.end(refusal);
      return;
    }
    if (held === undefined) {
      this.#respond(free());
      return;
    }
    const settlement = new CallSettlement(road.services, this.#checked, held);
    if (request.signal.aborted) {
      goOn(road, settlement.release(), () => {
        throw clientLeft();
      });
      return;
    }
    observer.admitted(this.#checked.callId, held.heldMicro);
    const settled =
      observer.ledgerOperation === undefined
        ? settlement.chargeKept(charge)
        : observedCharge(() => settlement.chargeKept(charge), observer.ledgerOperation);
    goOn(road, settled, (_, done) => this.#respond(done, held));
  }

  #respond(settled: SettledCharge, held?: Reservation): void {
    const road = this.#road;
    const { incoming, services, end } = road;
    const answer = this.#answer;
    const now = services.clock.now();
    const callId = incoming.callId.slice(incoming.callId.indexOf("_") + 1);
    const values = { callId, now, cost: creditText(settled.micro) };
    const headers = this.#headers(settled, held);
    headers["age"] = String(Math.max(0, Math.floor((now - answer.keptAt) / 1000)));
    this.#visit.mark(headers);
    const body = this.#body(values);
    const { finishReason } = answer;
    const responseId = freshId(answer.idPrefix, callId);
    incoming.observer.ended({ reason: "completed" }, settled, { responseId, finishReason });
    const response = incoming.respond({ status: 200, headers, body });
    giveUp(road);
    end(response);
  }

  /** What comes in pieces is made as its client takes it. */
  #body(values: FreshValues): Uint8Array | AsyncIterable<Uint8Array> {
    const { texts } = this.#road.incoming.observer;
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
    const { stream, wantsBytes } = this.#road.asked;
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
