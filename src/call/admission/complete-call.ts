import { isGatewayError } from "../../errors/gateway-error.js";
import type { GatewayRequest } from "../../http/message.js";
import { roomFailure } from "../../http/request-body.js";
import type { Balance } from "../../ledger/credit-ledger.js";
import type { LoadRoom } from "../../protocols/shared/operation.js";
import type { CallServices } from "../call-services.js";
import type { CheckedCall, ReceivedCall } from "../checked-call.js";
import { callLimits } from "./call-limits.js";
import { holdCredits } from "./hold-credits.js";
import { isFree } from "./price-for.js";

/**
 * Loads what a request refers to, once its account may make the call and has credits left. What is loaded counts as the bytes
 * of a body do.
 * @throws GatewayError 400 where something of that is not kept, 429 where nothing is left or there is no room, 503.
 */
export async function completeCall(
  services: CallServices,
  { request: received, caller }: Pick<ReceivedCall, "request" | "caller">,
  checked: CheckedCall,
): Promise<CheckedCall> {
  const { complete } = checked.request;
  if (complete === undefined) return checked;
  await requireCredits(services, checked);
  const request = await complete(loadRoom(services, received, caller.account));
  return { ...checked, request, demand: request.demand(checked.model, checked.allowance.defaultOutputTokens) };
}

/** What a request refers to counts as the bytes of its body do. */
export function loadRoom({ body }: CallServices, request: GatewayRequest, account: string): LoadRoom {
  const { pendingBodies } = body;
  return {
    most: pendingBodies.maxAccountBytes,
    take(bytes) {
      const failure = pendingBodies.add(request, account, bytes);
      if (failure !== undefined) throw roomFailure(failure);
    },
  };
}

/** @throws GatewayError 429 where the account has nothing left, 503 when the ledger fails. */
async function requireCredits(services: CallServices, checked: CheckedCall): Promise<void> {
  const { ledger } = services;
  const { caller, allowance, model, admittedAt } = checked;
  // An own key of the account's may pay, which is not known yet.
  if (isFree(checked) || model.route.knowOwnKeys.length > 0) return;
  const limits = caller.calendar.limits(allowance.credits, allowance.sessionMs, admittedAt);
  const caps = callLimits(checked, false)?.caps;
  let balance: Balance;
  try {
    balance = await ledger.balance(caller.account, limits, caps && { caps });
  } catch {
    // The reservation that follows fails, too, and says so.
    return;
  }
  if (!hasNothingLeft(balance)) return;
  // It says why, and when to come again. What it holds after all is given back, under an id of its own: a ledger takes a
  // second hold under an id that has ended for a repetition, and would charge nothing for it.
  const reservation = await holdCredits(services, { ...checked, callId: services.requestIds.next() }, undefined);
  if (isGatewayError(reservation)) throw reservation;
  if (reservation !== undefined) await ledger.release(reservation.lease).catch(() => {});
}

/** Whether every reservation would be denied now. */
function hasNothingLeft({ windows, prepaid, caps = [] }: Balance): boolean {
  const funds = prepaid === undefined ? 0 : Math.max(0, prepaid.balanceMicro) - prepaid.heldMicro;
  const isUsedUp = [windows.session, windows.week, windows.month].some(
    ({ limitMicro, bonusMicro, usedMicro, heldMicro }) =>
      limitMicro !== null && Math.max(0, limitMicro + bonusMicro - usedMicro) - heldMicro + funds <= 0,
  );
  return isUsedUp || caps.some(({ limitMicro, usedMicro, heldMicro }) => limitMicro - usedMicro - heldMicro <= 0);
}
