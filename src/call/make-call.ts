import type { Allowance } from "../access/allowance.js";
import { requireModelType } from "../access/entitlement.js";
import { GatewayError, usualModelNotFound } from "../errors/gateway-error.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import { readBody, readUpload } from "../http/request-body.js";
import type { WindowLimits } from "../ledger/credit-ledger.js";
import type { ModelRequest, RequestBody } from "../protocols/shared/operation.js";
import type { TargetRoute } from "../routing/target-route.js";
import { chooseTargets } from "./admission/choose-targets.js";
import { completeCall } from "./admission/complete-call.js";
import { holdCredits, type Reservation } from "./admission/hold-credits.js";
import { reviewCall } from "./admission/review-call.js";
import type { CallServices } from "./call-services.js";
import type { CheckedCall, ReceivedCall } from "./checked-call.js";
import { ModelCall } from "./model-call.js";
import { clientLeft, shuttingDown } from "./relay/abort-error.js";
import { tryTargets } from "./relay/try-targets.js";

/**
 * Makes a metered call, whatever the operation: read, check, hold, send, relay, settle. Never rejects, but for a bug in what
 * writes responses.
 * @returns what the client gets, whatever it is. A stream goes on after it, and settles the call when it ends.
 */
export async function makeCall(services: CallServices, incoming: ReceivedCall): Promise<GatewayResponse> {
  const { request, caller, operation, observer } = incoming;
  const { openCalls, catalog, body: bodies } = services;
  let route: TargetRoute | undefined;
  let number: number | undefined;
  let call: ModelCall | undefined;
  try {
    operation.checkContentType(request.header("content-type"));
    const body: RequestBody = await (operation.takesUploads
      ? readUpload(request, caller.account, services.uploads)
      : readBody(request, caller.account, bodies));
    if (body instanceof Uint8Array) observer.texts?.asked(body);
    const parsed = operation.parse(body, services.operations, incoming);
    const asked = parsed instanceof Promise ? await parsed : parsed;
    observer.requested(asked, catalog.current.get(asked.model)?.id);
    requireWanted(services, request);
    if (asked.fields !== undefined) observer.texts?.asked(asked.fields);

    const found = services.findAllowance(caller.plan);
    let checked = checkCall(services, incoming, asked, found instanceof Promise ? await found : found);
    if (asked.complete !== undefined) checked = await completeCall(services, incoming, checked);
    route = checked.model.route;
    route.enter();
    requireWanted(services, request);
    if (services.requestHook !== undefined) {
      checked = await reviewCall(services, incoming, checked, asked.fields ?? (body as Uint8Array));
      requireWanted(services, request);
    }
    if (route.knowOwnKeys.length > 0) {
      checked = await chooseTargets(services, incoming, checked);
      requireWanted(services, request);
    }

    number = openCalls.expect();
    const held = await holdCredits(services, checked, observer.ledgerOperation);
    if (held instanceof GatewayError) return incoming.respond(held);
    // From here on, the credits of a limited account bound its number of calls, so the limit on pending bodies can end.
    // But an upload is far larger than what its credits bound.
    if (!operation.takesUploads && isLimited(held)) bodies.pendingBodies.drop(request);
    call = new ModelCall(services, checked, held, incoming);
    call.begin(number);
    if (call.isDeparted) throw clientLeft();

    const response = await tryTargets(call);
    const terms = call.meter?.terms;
    if (terms !== undefined) Object.assign(response.headers, terms.headers);
    return incoming.respond(response);
  } catch (thrown) {
    return incoming.refuse(call === undefined ? thrown : await call.fail(thrown));
  } finally {
    if (call === undefined) {
      bodies.pendingBodies.drop(request);
      route?.leave();
      if (number !== undefined) openCalls.giveUp(number);
    }
  }
}

/**
 * Checks whether the key may make the call, and computes the most tokens that the call can use.
 * @param found - the key's plan, if it exists.
 * @throws GatewayError 400, 403, 404
 */
function checkCall(
  { catalog, clock, entitlements, holdRooms }: CallServices,
  { requestId, callId, caller, operation }: ReceivedCall,
  request: ModelRequest,
  found: Allowance | undefined,
): CheckedCall {
  if (request.namesNoModel === true && !catalog.current.has(request.model)) throw usualModelNotFound(request.model);
  const { model, allowance, rules } = entitlements.of(caller, found, catalog.current, request.model);
  requireModelType(model, operation);
  const admittedAt = clock.now();
  const demand = request.demand(model, allowance.defaultOutputTokens);
  const { tags } = caller;
  const room = holdRooms.of(caller.account);
  const additions = undefined;
  return { requestId, callId, caller, allowance, model, rules, room, request, demand, tags, additions, admittedAt };
}

/** While the body was read or a store was called, the client may have left, or the gateway may have begun to close. */
function requireWanted({ openCalls }: CallServices, { signal }: GatewayRequest): void {
  if (signal.aborted) throw clientLeft();
  if (openCalls.isClosing) throw shuttingDown();
}

function isLimited(held: Reservation | undefined): boolean {
  if (held === undefined) return false;
  const { session, week, month }: WindowLimits = held.lease.limits;
  return session.limitMicro !== null || week.limitMicro !== null || month.limitMicro !== null;
}
