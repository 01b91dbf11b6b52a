import type { RateRule } from "../../access/rate-rules.js";
import { GatewayError, serviceUnavailable } from "../../errors/gateway-error.js";
import type { ObserveLedger } from "../../events/request-observer.js";
import { denialIn, reserveIn } from "../../ledger/at-once.js";
import type {
  AccountCredits,
  DeniedReservation,
  Lease,
  ReserveRequest,
  ReserveResult,
  WindowName,
} from "../../ledger/credit-ledger.js";
import { unknownStates } from "../../ledger/window-states.js";
import type { Micro } from "../../prices/micro.js";
import type { CallServices } from "../call-services.js";
import { ledgerFailure } from "../call-warnings.js";
import type { CheckedCall } from "../checked-call.js";
import { type CallLimits, callLimits, requireKept } from "./call-limits.js";
import { isFree, mostOf } from "./price-for.js";

/** Credits that are held for one call. */
export interface Reservation {
  readonly lease: Lease;
  readonly heldMicro: Micro;
  /** The account's credits after the admission. */
  readonly credits: AccountCredits;
  /** The rates of which it has taken something; `undefined`: none. */
  readonly rules?: readonly RateRule[] | undefined;
  /** Whether the model is free. Then it holds no credits, and only its rates are settled. */
  readonly isFree?: boolean | undefined;
}

/**
 * Holds the most that the call can cost, and takes the most that it can need of its rates.
 * @param observe - told of what the ledger said; `undefined`: nobody wants to know.
 * @returns `undefined` for a model that is free, where no rates limit the call: it touches no ledger. A GatewayError 429 when
 * credits, caps or rates do not admit it: to throw it would take longer than all else that a refusal costs.
 * @throws GatewayError 503 when the ledger fails.
 */
export async function holdCredits(
  services: CallServices,
  call: CheckedCall,
  observe: ObserveLedger | undefined,
): Promise<Reservation | GatewayError | undefined> {
  const { requestId, callId, caller, allowance, room, admittedAt } = call;
  const free = isFree(call);
  const { isOut } = room;
  const named = callLimits(call, !isOut);
  if (free && named === undefined) return undefined;
  const from = observe === undefined ? 0 : performance.now();
  let isRemote = false;
  let outcome: "held" | "denied" | "failed" = "failed";
  try {
    if (named !== undefined) requireKept(services, requestId, named);
    // An account without credits may go on with models that are free.
    const limits = caller.calendar.limits(free ? noLimits : allowance.credits, allowance.sessionMs, admittedAt);
    const request = { id: callId, account: caller.account, amountMicro: 0, limits, leaseMs: services.leaseMs };
    // What has to be counted changes no denial.
    let result: ReserveResult | undefined = isOut ? denialNow(services.ledger, withNamed(request, named)) : undefined;
    if (result === undefined) {
      request.amountMicro = mostMicro(call, named);
      try {
        const reserving = reserveIn(services.ledger, withNamed(request, isOut ? callLimits(call) : named));
        isRemote = reserving instanceof Promise;
        if (reserving instanceof Promise) {
          // What is held meanwhile is nowhere else to be had.
          room.depart(request.amountMicro);
          try {
            // No other call of the account may come between what the ledger says and what its room learns of it.
            result = await reserving;
          } finally {
            room.arrive(request.amountMicro);
          }
        } else {
          result = reserving;
        }
      } catch (cause) {
        services.warn({ code: "ledger_failed", message: ledgerFailure("reserve", cause), cause, requestId });
        throw serviceUnavailable("Credits cannot be checked at the moment. Try again shortly.", cause);
      }
    }
    const held = reserved(services, result, { room, free }, request, named);
    outcome = held instanceof GatewayError ? "denied" : "held";
    return held;
  } finally {
    observe?.({ operation: "reserve", outcome, isRemote, durationMs: performance.now() - from });
  }
}

/** What denies a reservation of whatever amount. `undefined`: nothing, or the ledger has to be asked. */
function denialNow(ledger: CallServices["ledger"], request: ReserveRequest): DeniedReservation | undefined {
  try {
    return denialIn(ledger, request);
  } catch {
    // The reservation that follows fails, too, and says so.
    return undefined;
  }
}

/** @returns GatewayError 429 for a denial. */
function reserved(
  { denials }: CallServices,
  result: ReserveResult,
  { room, free }: Pick<CheckedCall, "room"> & { readonly free: boolean },
  { amountMicro, limits }: ReserveRequest,
  named: CallLimits | undefined,
): Reservation | GatewayError {
  // Neither a free call nor one that is admitted while the ledger is away shows what the account has left.
  if (!free && result.windows !== unknownStates) room.learn(result);
  // No credits pay for a model that is free.
  if (!result.ok) {
    return denials.of(free ? { ...result, prepaid: undefined } : result, limits, named);
  }
  const { lease, windows, rates } = result;
  if (named?.rates === undefined) return { lease, credits: result, heldMicro: amountMicro };
  return {
    lease,
    credits: free ? { windows, rates } : result,
    heldMicro: amountMicro,
    rules: named.rules,
    isFree: free,
  };
}

/**
 * The most that the call can cost: by the bytes of its prompt where its account has plenty left, else by its tokens, which
 * takes time to count. Caps and rates are for those who count.
 */
function mostMicro(call: CheckedCall, named: CallLimits | undefined): Micro {
  const { demand, room } = call;
  if (isFree(call)) return 0;
  const { promptBound } = demand;
  if (named === undefined && promptBound !== undefined) {
    const byBytes = mostWith(promptBound, call);
    if (room.take(byBytes)) return byBytes;
  }
  return mostWith(demand.heldPromptTokens, call);
}

function mostWith(promptTokens: number, call: CheckedCall): Micro {
  const { model, demand } = call;
  const ofOne = mostOf(call, (price) => price.upperBound(promptTokens, demand.outputTokens, demand.most));
  return Math.min(ofOne * model.route.mostCharged, Number.MAX_SAFE_INTEGER);
}

const noLimits: Readonly<Record<WindowName, null>> = { session: null, week: null, month: null };

function withNamed(request: ReserveRequest, named: CallLimits | undefined): ReserveRequest {
  if (named === undefined) return request;
  const { caps, rates } = named;
  return {
    ...request,
    ...(caps !== undefined && { caps }),
    ...(rates !== undefined && { rates }),
  };
}
