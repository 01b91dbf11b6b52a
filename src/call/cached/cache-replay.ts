import type { Buffer } from "node:buffer";
import { type CachedAnswer, freshBytes, freshId } from "../../cache/cached-answer.js";
import { GatewayError } from "../../errors/gateway-error.js";
import type { Micro } from "../../metering/micro.js";
import { noTokens } from "../../metering/token-counts.js";
import { addCreditHeaders } from "../admission/credit-headers.js";
import { creditText } from "../admission/credit-text.js";
import { holdCredits, type Reservation } from "../admission/hold-credits.js";
import { type CallRoad, giveUp, goOn } from "../call-road.js";
import { CallSettlement, type SettledCharge } from "../call-settlement.js";
import type { CheckedCall } from "../checked-call.js";
import { addRateHeaders } from "../limits/rate-headers.js";
import { streamHeaders } from "../relay/stream-headers.js";
import type { CacheVisit } from "./cache-visit.js";

/** So much of a kept stream goes out at once, so that a slow client's progress can be seen. */
const pieceBytes = 128 * 1024;

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
    const micro = services.answerRecall?.priceOf(this.#answer) ?? 0;
    if (micro === 0) {
      this.#respond(free());
      return;
    }
    services.openCalls.expect();
    this.#road.isExpected = true;
    // As any call: what it costs less than one is not held back for long.
    goOn(this.#road, holdCredits(services, this.#checked), (_, held) => this.#charge(held, micro));
  }

  #charge(held: Reservation | GatewayError | undefined, micro: Micro): void {
    const road = this.#road;
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
    road.incoming.observer.admitted(this.#checked.callId, held.heldMicro);
    const settlement = new CallSettlement(road.services, this.#checked, held);
    goOn(road, settlement.chargeKept(micro), (_, settled) => this.#respond(settled, held));
  }

  #respond(settled: SettledCharge, held?: Reservation): void {
    const road = this.#road;
    const { incoming, services, asked, end } = road;
    const answer = this.#answer;
    const now = services.clock.now();
    const callId = incoming.callId.slice(incoming.callId.indexOf("_") + 1);
    const bytes = freshBytes(answer, { callId, now });
    const headers = headersOf(answer, asked.stream, settled, held);
    headers["age"] = String(Math.max(0, Math.floor((now - answer.keptAt) / 1000)));
    this.#visit.mark(headers);
    const { observer } = incoming;
    if (asked.stream) observer.texts?.streamed(bytes);
    else observer.texts?.answered(bytes);
    const responseId = answer.idPrefix === "" ? undefined : freshId(answer.idPrefix, callId);
    observer.ended({ reason: "completed" }, settled, { responseId, finishReason: answer.finishReason });
    const response = incoming.respond({ status: 200, headers, body: asked.stream ? inPieces(bytes) : bytes });
    giveUp(road);
    end(response);
  }
}

function free(): SettledCharge {
  const tokens = { ...noTokens };
  return { micro: 0, tokens, source: "cache", credits: undefined, funding: undefined, prepaidMicro: 0 };
}

function headersOf(
  { contentType }: CachedAnswer,
  isStream: boolean,
  { micro, credits }: SettledCharge,
  held: Reservation | undefined,
): Record<string, string> {
  const headers = isStream ? streamHeaders() : { "content-type": contentType, "x-credits-charged": creditText(micro) };
  return credits === undefined
    ? headers
    : addRateHeaders(addCreditHeaders(headers, credits), credits.rates, held?.rules);
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array, undefined> {
  for (let start = 0; start < bytes.length; start += pieceBytes) yield bytes.subarray(start, start + pieceBytes);
}
