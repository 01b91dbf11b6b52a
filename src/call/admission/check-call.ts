import type { Caller } from "../../access/accounts.js";
import { authorize, requireModelType } from "../../access/authorize.js";
import type { RequestObserver } from "../../events/request-observer.js";
import type { GatewayRequest } from "../../http/message.js";
import { readBody } from "../../http/read-body.js";
import type { Operation } from "../../operations/operation.js";
import type { Admission } from "../admission.js";
import type { CallServices } from "../call-services.js";
import { clientLeft, shuttingDown } from "../relay/abort-error.js";

/** A request for a model, as it arrives. */
export interface IncomingCall {
  readonly requestId: string;
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly observer: RequestObserver;
}

/** A call that its key may make, and for which no credits are held yet. */
export type CheckedCall = Omit<Admission, "reservation">;

/**
 * Reads the request's body, and checks what it asks for.
 * @throws GatewayError; rejects with a `BodyError` where the body cannot be had.
 */
export async function checkCall(services: CallServices, incoming: IncomingCall): Promise<CheckedCall> {
  const { requestId, request, caller, operation, observer } = incoming;
  const { body, catalog, clock } = services;
  operation.checkContentType(request.header("content-type"));
  const asked = await operation.parse(await readBody(request, caller.account, body), body.maxBodyDepth);
  requireWanted(services, request);
  const { model, allowance } = authorize(caller, await services.findAllowance(caller.plan), catalog, asked.model);
  observer.requested(model.id, asked.stream);
  requireModelType(model, operation.modelType);
  const admittedAt = clock.now();
  const demand = asked.demand(model, allowance.defaultOutputTokens);
  requireWanted(services, request);
  return { requestId, caller, allowance, model, request: asked, demand, admittedAt };
}

/** The client may have left, or the gateway begun to close, while the body came or was read, or a store was asked. */
function requireWanted({ openCalls }: CallServices, { signal }: GatewayRequest): void {
  if (signal.aborted) throw clientLeft();
  if (openCalls.isClosing) throw shuttingDown();
}
