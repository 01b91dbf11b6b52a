import type { GatewayResponse } from "../http/message.js";
import type { ModelRequest } from "../operations/operation.js";
import type { TargetRoute } from "../routing/target-route.js";
import type { ReceivedCall } from "./admission/check-call.js";
import type { CallServices } from "./call-services.js";
import type { CheckedCall } from "./checked-call.js";
import type { ModelCall } from "./model-call.js";
import type { Soon } from "./soon.js";

/** How far a call has come: its stages are functions that go on from here. Each sets what later ones need. */
export class CallRoad {
  readonly services: CallServices;
  readonly incoming: ReceivedCall;
  /** Gives the client its response. */
  readonly end: (response: GatewayResponse) => void;
  /** Where the gateway has a bug. */
  readonly crash: (bug: unknown) => void;
  /** The request, as the client sent it; of a form, its fields as JSON. */
  bytes!: Uint8Array;
  asked!: ModelRequest;
  checked!: CheckedCall;
  /** The targets of its model, once it has entered them. */
  route: TargetRoute | undefined;
  /** Among the open calls, once its credits are about to be held; -1: before. */
  number = -1;
  /** Once it is admitted. */
  call: ModelCall | undefined;

  constructor(services: CallServices, incoming: ReceivedCall, end: CallRoad["end"], crash: CallRoad["crash"]) {
    this.services = services;
    this.incoming = incoming;
    this.end = end;
    this.crash = crash;
  }
}

/** As `andThen`, for the next stage of a call: it is given the road, and what fails later ends the call. */
export function goOn<Value>(road: CallRoad, value: Soon<Value>, next: (road: CallRoad, value: Value) => void): void {
  if (value instanceof Promise) wait(road, value, next);
  else next(road, value);
}

/** What is thrown later is for {@link fail}, since nobody else is there. */
function wait<Value>(road: CallRoad, value: Promise<Value>, next: (road: CallRoad, value: Value) => void): void {
  value.then(
    (found) => {
      try {
        next(road, found);
      } catch (thrown) {
        fail(road, thrown);
      }
    },
    (thrown) => fail(road, thrown),
  );
}

/** Ends a call with what was thrown. Never throws. */
export function fail(road: CallRoad, thrown: unknown): void {
  const { call, incoming } = road;
  try {
    const failed = call === undefined ? thrown : call.fail(thrown);
    if (call === undefined) giveUp(road);
    if (failed instanceof Promise) failed.then((error) => road.end(incoming.refuse(error))).catch(road.crash);
    else road.end(incoming.refuse(failed));
  } catch (bug) {
    road.crash(bug);
  }
}

/** Ends what a call has begun that is not admitted. */
export function giveUp({ services, incoming, route, number }: CallRoad): void {
  services.body.pendingBodies.drop(incoming.request);
  route?.leave();
  if (number >= 0) services.openCalls.giveUp(number);
}
