import { GatewayError } from "../errors/gateway-error.js";
import { beyondTarget } from "../errors/target-limit.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import { readBody } from "../http/read-body.js";
import type { WindowLimits } from "../ledger/credit-ledger.js";
import { CostedExchange } from "../operations/costed/costed-exchange.js";
import type { Exchange } from "../operations/operation.js";
import type { DirectAnswer } from "../providers/direct-call.js";
import type { TargetRoute } from "../routing/target-route.js";
import { TargetSearch } from "../routing/target-search.js";
import { checkCall, type ReceivedCall } from "./admission/check-call.js";
import { completeCall } from "./admission/complete-call.js";
import { creditText } from "./admission/credit-text.js";
import { holdCredits } from "./admission/hold-credits.js";
import { reviewCall } from "./admission/review-call.js";
import { Attempt } from "./attempt.js";
import type { CallServices } from "./call-services.js";
import type { CallSettlement } from "./call-settlement.js";
import { ModelCall } from "./model-call.js";
import { clientLeft, shuttingDown } from "./relay/abort-error.js";
import type { HeldResponse } from "./relay/held-response.js";
import { hideHeaders } from "./relay/hide-headers.js";
import { respondWhole } from "./relay/respond-whole.js";
import { respondWithStream } from "./relay/respond-with-stream.js";
import { send } from "./relay/send.js";
import { brokenOff } from "./relay/until-aborted.js";
import type { Soon } from "./soon.js";

/**
 * Makes a metered call, whatever the operation: check → hold credits → send → relay → settle.
 *
 * It waits for promises alone: a stage that has its result returns it. Stages do not wait for each other in functions of
 * their own, since each would cost every call two promises.
 * @returns what the client gets, whatever it is: the promise does not reject.
 */
export async function callModel(services: CallServices, incoming: ReceivedCall): Promise<GatewayResponse> {
  const { request, caller, operation, observer } = incoming;
  const { body, openCalls } = services;
  let isExpected = false;
  let route: TargetRoute | undefined;
  let call: ModelCall | undefined;
  try {
    operation.checkContentType(request.header("content-type"));
    const bytes = await readBody(request, caller.account, body);
    const parsed = operation.parse(bytes, services.operations, incoming);
    const asked = parsed instanceof Promise ? await parsed : parsed;
    observer.requested(services.catalog.current.get(asked.model)?.id, asked.stream);
    requireWanted(services, request);
    const found = services.findAllowance(caller.plan);
    let checked = checkCall(services, incoming, asked, found instanceof Promise ? await found : found);
    if (asked.complete !== undefined) checked = await completeCall(services, incoming, checked);
    ({ route } = checked.model);
    route.enter();
    requireWanted(services, request);
    if (services.requestHook !== undefined) checked = await reviewCall(services, incoming, checked, bytes);
    requireWanted(services, request);
    openCalls.expect();
    isExpected = true;
    const held = holdCredits(services, checked);
    const reservation = held instanceof Promise ? await held : held;
    if (reservation instanceof GatewayError) {
      giveUp(services, incoming, route, isExpected);
      return incoming.respond(reservation);
    }
    // From here on, the credits of a limited account bound its number of calls, so the limit on pending bodies can end.
    if (reservation !== undefined && isLimited(reservation.lease.limits)) body.pendingBodies.drop(request);
    call = new ModelCall(services, checked, reservation, incoming);
    call.begin();
    openCalls.expected();
    if (call.isDeparted) throw clientLeft();
    const search = new TargetSearch(route, [call.notice, request.signal], services.clock);
    let response: GatewayResponse | HeldResponse | undefined;
    while (response === undefined) {
      const attempt = new Attempt(call, search.take() ?? (await search.wait()));
      try {
        response = await attempt.run(tryTarget);
      } catch (failure) {
        search.failed(attempt.target, attempt.failed(failure));
      }
    }
    return incoming.respond("whenReviewed" in response ? await response.whenReviewed() : response);
  } catch (thrown) {
    if (call !== undefined) return incoming.refuse(await call.fail(thrown));
    giveUp(services, incoming, route, isExpected);
    return incoming.refuse(thrown);
  }
}

/** Ends what a call has begun that is not admitted. */
function giveUp(
  { body, openCalls }: CallServices,
  { request }: ReceivedCall,
  route: TargetRoute | undefined,
  isExpected: boolean,
): void {
  body.pendingBodies.drop(request);
  route?.leave();
  if (isExpected) openCalls.expected();
}

/** While the body was read or a store was called, the client may have left, or the gateway may have begun to close. */
function requireWanted({ openCalls }: CallServices, { signal }: GatewayRequest): void {
  if (signal.aborted) throw clientLeft();
  if (openCalls.isClosing) throw shuttingDown();
}

function isLimited({ session, week, month }: WindowLimits): boolean {
  return session.limitMicro !== null || week.limitMicro !== null || month.limitMicro !== null;
}

/** Sends the request to one target, and relays its response. */
function tryTarget(attempt: Attempt): Promise<GatewayResponse | HeldResponse> {
  const made = makeExchange(attempt);
  if (!(made instanceof Promise)) return relay(attempt, made);
  return made.then((exchange) => {
    if (exchange !== undefined && attempt.notice.aborted) throw brokenOff();
    return relay(attempt, exchange);
  });
}

function makeExchange(attempt: Attempt): Soon<Exchange | undefined> {
  const { call, target } = attempt;
  const { model, request, additions } = call.admission;
  const hidden = additions?.headers;
  return request.exchangeWith(hidden === undefined ? target : hideHeaders(target, hidden), model, attempt);
}

function relay(attempt: Attempt, own: Exchange | undefined): Promise<GatewayResponse | HeldResponse> {
  const { model, request } = attempt.call.admission;
  if (own === undefined) {
    throw beyondTarget("model", `'${model.id}' cannot be used here: its server does not offer this operation.`);
  }
  const exchange = attempt.call.services.exposesCost ? withCosts(own, attempt.call.settlement) : own;
  return request.stream ? sendForStream(attempt, exchange) : respondWhole(attempt, exchange);
}

async function sendForStream(attempt: Attempt, exchange: Exchange): Promise<GatewayResponse | HeldResponse> {
  const answer = await new Promise<DirectAnswer>((answered, failed) => send(attempt, exchange, { answered, failed }));
  attempt.call.observer.attemptAnswered();
  return await respondWithStream({ attempt, exchange, answer });
}

function withCosts(exchange: Exchange, settlement: CallSettlement): Exchange {
  return new CostedExchange(exchange, (tokens) => creditText(settlement.costOf(tokens)));
}
