import type { Allowance } from "../../access/allowance.js";
import { requireModelType } from "../../access/authorize.js";
import type { Caller } from "../../access/caller.js";
import { entitlementOf } from "../../access/entitlement.js";
import { type GatewayError, usualModelNotFound } from "../../errors/gateway-error.js";
import type { RequestObserver } from "../../events/request-observer.js";
import type { GatewayRequest, GatewayResponse } from "../../http/message.js";
import type { ModelRequest, Operation, RequestFacts } from "../../protocols/shared/operation.js";
import type { CallServices } from "../call-services.js";
import type { CheckedCall } from "../checked-call.js";

/** A request for a model, as it arrives. */
export interface ReceivedCall extends RequestFacts {
  /** What client, host and upstream know the request by. A host may give the same one twice. */
  readonly requestId: string;
  /** Unique: the ledger's id of the call. */
  readonly callId: string;
  readonly request: GatewayRequest;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly observer: RequestObserver;
  /** What the client gets for a response, or for an error that was not thrown. */
  respond(made: GatewayResponse | GatewayError): GatewayResponse;
  /** What the client gets for what was thrown. */
  refuse(thrown: unknown): GatewayResponse;
}

/**
 * Checks whether the key may make the call, and computes the most tokens that the call can use.
 * @param found - the key's plan, if it exists.
 * @throws GatewayError 400, 403, 404
 */
export function checkCall(
  { catalog, clock, holdRooms }: CallServices,
  { requestId, callId, caller, operation }: ReceivedCall,
  request: ModelRequest,
  found: Allowance | undefined,
): CheckedCall {
  if (request.namesNoModel === true && !catalog.current.has(request.model)) throw usualModelNotFound(request.model);
  const { model, allowance, rules } = entitlementOf(caller, found, catalog.current, request.model);
  requireModelType(model, operation);
  const admittedAt = clock.now();
  const demand = request.demand(model, allowance.defaultOutputTokens);
  const { tags } = caller;
  const room = holdRooms.of(caller.account);
  const additions = undefined;
  return { requestId, callId, caller, allowance, model, rules, room, request, demand, tags, additions, admittedAt };
}
