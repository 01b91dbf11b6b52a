import { beyondTarget } from "../../errors/target-limit.js";
import type { GatewayResponse } from "../../http/message.js";
import { calledName } from "../../operations/called-name.js";
import { CostedExchange } from "../../operations/costed/costed-exchange.js";
import type { Exchange } from "../../operations/operation.js";
import type { DirectAnswer } from "../../providers/direct-call.js";
import { TargetSearch } from "../../routing/target-search.js";
import type { TargetVisit } from "../../routing/target-visit.js";
import { creditText } from "../admission/credit-text.js";
import { Attempt, type AttemptListener, type Relayed } from "../attempt.js";
import { type CallRoad, fail, goOn } from "../call-road.js";
import type { CallSettlement } from "../call-settlement.js";
import type { ModelCall } from "../model-call.js";
import { respondWithBytes } from "./bytes/respond-with-bytes.js";
import { hideHeaders } from "./hide-headers.js";
import { respondWhole } from "./respond-whole.js";
import { respondWithStream } from "./respond-with-stream.js";
import { send } from "./send.js";
import { brokenOff } from "./until-aborted.js";

/** Tries the targets of an admitted call, until one has something for the client. */
export class TargetTries implements AttemptListener {
  readonly #road: CallRoad;
  readonly #call: ModelCall;
  readonly #search: TargetSearch;

  constructor(road: CallRoad, call: ModelCall) {
    this.#road = road;
    this.#call = call;
    this.#search = new TargetSearch(call.admission.model.route, [call.notice, call.client.signal], call.services.clock);
  }

  next(): void {
    const visit = this.#search.take();
    if (visit === undefined) this.#wait();
    else this.#try(visit);
  }

  #wait(): void {
    goOn(this.#road, this.#search.wait(), (_, visit) => this.#try(visit));
  }

  #try(visit: TargetVisit): void {
    const attempt = new Attempt(this.#call, visit);
    try {
      attempt.run(tryTarget, this);
    } catch (thrown) {
      this.failed(attempt, thrown);
    }
  }

  responded(_: Attempt, response: Relayed): void {
    const road = this.#road;
    try {
      if ("whenReviewed" in response) goOn(road, response.whenReviewed(), finish);
      else finish(road, response);
    } catch (thrown) {
      fail(road, thrown);
    }
  }

  failed(attempt: Attempt, thrown: unknown): void {
    try {
      this.#search.failed(attempt.target, attempt.failed(thrown));
      this.next();
    } catch (ending) {
      fail(this.#road, ending);
    }
  }
}

function finish({ end, incoming, call }: CallRoad, response: GatewayResponse): void {
  const terms = call?.meter?.terms;
  if (terms !== undefined) Object.assign(response.headers, terms.headers);
  end(incoming.respond(response));
}

/** Sends the request to one target, and relays its response. */
function tryTarget(attempt: Attempt, listener: AttemptListener): void {
  const { call, target } = attempt;
  const { model, request, additions } = call.admission;
  const hidden = additions?.headers;
  const made = request.exchangeWith(hidden === undefined ? target : hideHeaders(target, hidden), model, attempt);
  if (made instanceof Promise) relayLater(attempt, listener, made);
  else relay(attempt, listener, made);
}

function relayLater(attempt: Attempt, listener: AttemptListener, made: Promise<Exchange>): void {
  made
    .then((exchange) => {
      if (attempt.notice.aborted) throw brokenOff();
      relay(attempt, listener, exchange);
    })
    .catch((thrown) => listener.failed(attempt, thrown));
}

function relay(attempt: Attempt, listener: AttemptListener, own: Exchange | undefined): void {
  const { admission, services, settlement } = attempt.call;
  const { model, request } = admission;
  if (own === undefined) {
    throw beyondTarget(
      "model",
      `'${calledName(model)}' cannot be used here: its server does not offer this operation.`,
    );
  }
  const exchange = services.exposesCost ? withCosts(own, settlement) : own;
  if (!request.stream && request.wantsBytes !== true) respondWhole(attempt, exchange, listener);
  else {
    sendForStream(attempt, exchange).then(
      (response) => listener.responded(attempt, response),
      (thrown) => listener.failed(attempt, thrown),
    );
  }
}

async function sendForStream(attempt: Attempt, exchange: Exchange): Promise<Relayed> {
  const answer = await new Promise<DirectAnswer>((answered, failed) => send(attempt, exchange, { answered, failed }));
  attempt.call.observer.attemptAnswered();
  const { wantsBytes } = attempt.call.admission.request;
  return await (wantsBytes ? respondWithBytes : respondWithStream)({ attempt, exchange, answer });
}

function withCosts(exchange: Exchange, settlement: CallSettlement): Exchange {
  return new CostedExchange(exchange, (tokens) => creditText(settlement.costOf(tokens)));
}
