import type { Allowance } from "../access/allowance.js";
import { GatewayError } from "../errors/gateway-error.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import { readBody, readUpload } from "../http/read-body.js";
import type { WindowLimits } from "../ledger/credit-ledger.js";
import type { ModelRequest, RequestBody } from "../operations/operation.js";
import { checkCall, type ReceivedCall } from "./admission/check-call.js";
import { completeCall } from "./admission/complete-call.js";
import { holdCredits, type Reservation } from "./admission/hold-credits.js";
import { reviewCall } from "./admission/review-call.js";
import { CallRoad, fail, giveUp, goOn } from "./call-road.js";
import type { CallServices } from "./call-services.js";
import type { CheckedCall } from "./checked-call.js";
import { ModelCall } from "./model-call.js";
import { observedHold } from "./observed/observed-hold.js";
import { clientLeft, shuttingDown } from "./relay/abort-error.js";
import { TargetTries } from "./relay/target-tries.js";

/**
 * Makes a metered call, whatever the operation: check → hold credits → send → relay → settle.
 *
 * Only what has to be waited for makes a promise. So each stage is a function that goes on to the next one.
 * @returns what the client gets, whatever it is.
 */
export function callModel(services: CallServices, incoming: ReceivedCall): Promise<GatewayResponse> {
  return new Promise((end, crash) => {
    const road = new CallRoad(services, incoming, end, crash);
    const { request, caller, operation } = incoming;
    try {
      operation.checkContentType(request.header("content-type"));
      const { body, uploads } = services;
      if (operation.takesUploads) goOn(road, readUpload(request, caller.account, uploads), parse);
      else goOn(road, readBody(request, caller.account, body), keepAndParse);
    } catch (thrown) {
      fail(road, thrown);
    }
  });
}

function keepAndParse(road: CallRoad, body: Uint8Array): void {
  road.bytes = body;
  road.incoming.observer.texts?.asked(body);
  parse(road, body);
}

function parse(road: CallRoad, body: RequestBody): void {
  const { services, incoming } = road;
  goOn(road, incoming.operation.parse(body, services.operations, incoming), findPlan);
}

function findPlan(road: CallRoad, asked: ModelRequest): void {
  const { services, incoming } = road;
  incoming.observer.requested(asked, services.catalog.current.get(asked.model)?.id);
  requireWanted(services, incoming.request);
  road.asked = asked;
  if (asked.fields !== undefined) {
    road.bytes = asked.fields;
    incoming.observer.texts?.asked(asked.fields);
  }
  goOn(road, services.findAllowance(incoming.caller.plan), check);
}

function check(road: CallRoad, found: Allowance | undefined): void {
  const { services, incoming, asked } = road;
  const checked = checkCall(services, incoming, asked, found);
  if (asked.complete === undefined) enter(road, checked);
  else goOn(road, completeCall(services, incoming, checked), enter);
}

function enter(road: CallRoad, checked: CheckedCall): void {
  const { services, incoming, bytes } = road;
  road.route = checked.model.route;
  road.route.enter();
  requireWanted(services, incoming.request);
  if (services.requestHook === undefined) hold(road, checked);
  else goOn(road, reviewCall(services, incoming, checked, bytes), hold);
}

function hold(road: CallRoad, checked: CheckedCall): void {
  const { services, incoming } = road;
  requireWanted(services, incoming.request);
  road.number = services.openCalls.expect();
  road.checked = checked;
  const { ledgerOperation } = incoming.observer;
  const held =
    ledgerOperation === undefined ? holdCredits(services, checked) : observedHold(services, checked, ledgerOperation);
  goOn(road, held, admit);
}

function admit(road: CallRoad, held: Reservation | GatewayError | undefined): void {
  const { services, incoming, checked } = road;
  if (held instanceof GatewayError) {
    const response = incoming.respond(held);
    giveUp(road);
    road.end(response);
    return;
  }
  // From here on, the credits of a limited account bound its number of calls, so the limit on pending bodies can end.
  // But an upload is far larger than what its credits bound.
  const { takesUploads } = incoming.operation;
  if (held !== undefined && !takesUploads && isLimited(held.lease.limits)) {
    services.body.pendingBodies.drop(incoming.request);
  }
  const call = new ModelCall(services, checked, held, incoming);
  road.call = call;
  call.begin(road.number);
  if (call.isDeparted) throw clientLeft();
  new TargetTries(road, call).next();
}

/** While the body was read or a store was called, the client may have left, or the gateway may have begun to close. */
function requireWanted({ openCalls }: CallServices, { signal }: GatewayRequest): void {
  if (signal.aborted) throw clientLeft();
  if (openCalls.isClosing) throw shuttingDown();
}

function isLimited({ session, week, month }: WindowLimits): boolean {
  return session.limitMicro !== null || week.limitMicro !== null || month.limitMicro !== null;
}
