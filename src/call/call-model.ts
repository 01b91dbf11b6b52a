import { beyondTarget } from "../errors/target-limit.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import { readBody } from "../http/read-body.js";
import type { WindowStates } from "../ledger/credit-ledger.js";
import { CostedExchange } from "../operations/costed/costed-exchange.js";
import type { Exchange } from "../operations/operation.js";
import type { TargetRoute } from "../routing/target-route.js";
import { TargetSearch } from "../routing/target-search.js";
import { checkCall, type ReceivedCall } from "./admission/check-call.js";
import { completeCall } from "./admission/complete-call.js";
import { creditText } from "./admission/credit-text.js";
import { holdCredits } from "./admission/hold-credits.js";
import { parseRequest } from "./admission/parse-request.js";
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

/** Makes a metered call, whatever the operation: check → hold credits → send → relay → settle. */
export async function callModel(services: CallServices, incoming: ReceivedCall): Promise<GatewayResponse> {
  const call = await admit(services, incoming);
  try {
    if (call.isDeparted) throw clientLeft();
    const response = await tryTargets(call);
    return "whenReviewed" in response ? await response.whenReviewed() : response;
  } catch (thrown) {
    throw await call.fail(thrown);
  }
}

/** Checks that the account may make the call, and holds its credits. */
async function admit(services: CallServices, incoming: ReceivedCall): Promise<ModelCall> {
  const { request, caller, operation, observer } = incoming;
  const { body, openCalls } = services;
  let isExpected = false;
  let route: TargetRoute | undefined;
  try {
    operation.checkContentType(request.header("content-type"));
    const bytes = await readBody(request, caller.account, body);
    const asked = await parseRequest(services, incoming, bytes);
    observer.requested(services.catalog.current.get(asked.model)?.id, asked.stream);
    requireWanted(services, request);
    const allowed = checkCall(services, incoming, asked, await services.findAllowance(caller.plan));
    const checked = asked.complete === undefined ? allowed : await completeCall(services, incoming, allowed);
    ({ route } = checked.model);
    route.enter();
    requireWanted(services, request);
    const admission = services.requestHook ? await reviewCall(services, incoming, checked, bytes) : checked;
    requireWanted(services, request);
    openCalls.expect();
    isExpected = true;
    const reservation = await holdCredits(services, admission);
    // From here on, the credits of a limited account bound its number of calls, so the limit on pending bodies can end.
    if (reservation !== undefined && isLimited(reservation.credits.windows)) body.pendingBodies.drop(request);
    const call = new ModelCall(services, admission, reservation, incoming);
    call.begin();
    return call;
  } catch (error) {
    body.pendingBodies.drop(request);
    route?.leave();
    throw error;
  } finally {
    if (isExpected) openCalls.expected();
  }
}

/** While the body was read or a store was called, the client may have left, or the gateway may have begun to close. */
function requireWanted({ openCalls }: CallServices, { signal }: GatewayRequest): void {
  if (signal.aborted) throw clientLeft();
  if (openCalls.isClosing) throw shuttingDown();
}

function isLimited({ session, week, month }: WindowStates): boolean {
  return session.limitMicro !== null || week.limitMicro !== null || month.limitMicro !== null;
}

/** Tries the model's targets in turn until one has something for the client. */
async function tryTargets(call: ModelCall): Promise<GatewayResponse | HeldResponse> {
  const { admission, services, client, notice } = call;
  const search = new TargetSearch(admission.model.route, [notice, client.signal], services.clock);
  for (;;) {
    const attempt = new Attempt(call, search.take() ?? (await search.wait()));
    try {
      return await attempt.run(tryTarget);
    } catch (thrown) {
      search.failed(attempt.target, attempt.failed(thrown));
    }
  }
}

/** Sends the request to one target, and relays its response. */
async function tryTarget(attempt: Attempt): Promise<GatewayResponse | HeldResponse> {
  const { call, target } = attempt;
  const { requestId, callId, model, request, demand, admittedAt, additions } = call.admission;
  const { promptTokens, addedCap, outputTokens: outputCap } = demand;
  const { clock } = call.services;
  const facts = { requestId, callId, promptTokens, addedCap, outputCap, admittedAt, startedAt: clock.now(), clock };
  const hidden = additions?.headers;
  const traits = hidden === undefined ? target : hideHeaders(target, hidden);
  const made = request.exchangeWith(traits, model, facts);
  const own = made instanceof Promise ? await made : made;
  if (own === undefined) {
    throw beyondTarget("model", `'${model.id}' cannot be used here: its server does not offer this operation.`);
  }
  if (made instanceof Promise && attempt.notice.aborted) throw brokenOff();
  const exchange = call.services.exposesCost ? withCosts(own, call.settlement) : own;
  const answer = await send(attempt, exchange);
  call.observer.attemptAnswered();
  const response = { attempt, exchange, answer };
  return request.stream ? respondWithStream(response) : respondWhole(response);
}

function withCosts(exchange: Exchange, settlement: CallSettlement): Exchange {
  return new CostedExchange(exchange, (tokens) => creditText(settlement.costOf(tokens)));
}
