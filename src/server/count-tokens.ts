import { authorize, requireModelType } from "../access/authorize.js";
import type { Caller } from "../access/caller.js";
import type { CallServices } from "../call/call-services.js";
import { GatewayError } from "../errors/gateway-error.js";
import type { RequestObserver } from "../events/request-observer.js";
import type { GatewayRequest } from "../http/message.js";
import { readBody } from "../http/read-body.js";
import { countMessagesTokens } from "../operations/messages/count-messages-tokens.js";
import { messages } from "../operations/messages.js";
import type { AccountPace, Pace } from "./account-pace.js";

/** Far more than a client asks for while it works: Claude Code sends some 14 at once. */
export const countPace: Pace = { burst: 200, perSecond: 20 };

/** @throws GatewayError 429 for an account that has tokens counted too often. */
export function requirePace(pace: AccountPace, account: string): void {
  const waitMs = pace.take(account);
  if (waitMs === 0) return;
  const { burst, perSecond } = countPace;
  throw new GatewayError(
    `Tokens are counted ${perSecond} times a second, ${burst} at once. Send fewer requests, and try again shortly.`,
    {
      status: 429,
      code: "rate_limit_exceeded",
      type: "requests",
      headers: { "retry-after": String(Math.ceil(waitMs / 1000)) },
    },
  );
}

/**
 * `POST /v1/messages/count_tokens`: the tokens that would be held for a request's prompt, as JSON text. Free of charge.
 * @throws GatewayError; rejects with a `BodyError` when the body cannot be read.
 */
export async function countTokens(
  services: CallServices,
  request: GatewayRequest,
  caller: Caller,
  observer: RequestObserver,
): Promise<string> {
  const { body, catalog } = services;
  try {
    messages.checkContentType(request.header("content-type"));
    const counted = await countMessagesTokens(await readBody(request, caller.account, body), services.operations);
    observer.requested(catalog.current.get(counted.model)?.id, false);
    const { model } = authorize(caller, await services.findAllowance(caller.plan), catalog.current, counted.model);
    requireModelType(model, messages.modelType);
    return counted.count(model);
  } finally {
    body.pendingBodies.drop(request);
  }
}
