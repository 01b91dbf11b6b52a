import type { Caller } from "../access/caller.js";
import { requireModelType } from "../access/entitlement.js";
import { loadRoom } from "../call/admission/complete-call.js";
import type { CallServices } from "../call/call-services.js";
import type { RequestObserver } from "../events/request-observer.js";
import type { GatewayRequest } from "../http/message.js";
import { readBody } from "../http/request-body.js";
import { countMessagesTokens, messages } from "../protocols/messages/messages.js";
import { countInputTokens, responses } from "../protocols/responses/responses.js";
import type { CountRequest, Operation } from "../protocols/shared/operation.js";
import type { Pace } from "./account-pace.js";

/** Far more than a client asks for while it works: Claude Code sends some 14 at once. */
export const countPace: Pace = { burst: 200, perSecond: 20 };

/** What of a request is counted, by the endpoint. */
const counters = {
  count_tokens: { operation: messages, read: countMessagesTokens },
  input_tokens: { operation: responses, read: countInputTokens },
} satisfies Record<string, { operation: Operation; read: CountRequest }>;

/** An endpoint that counts tokens. */
export type CountEndpoint = keyof typeof counters;

/**
 * `POST /v1/messages/count_tokens` and `POST /v1/responses/input_tokens`: the tokens that would be held for a request's prompt, as JSON text. Free of charge.
 * @throws GatewayError; rejects with a `BodyError` when the body cannot be read.
 */
export async function countTokens(
  services: CallServices,
  { endpoint, request, caller }: { endpoint: CountEndpoint; request: GatewayRequest; caller: Caller },
  observer: RequestObserver,
): Promise<string> {
  const { body, catalog } = services;
  const { operation, read } = counters[endpoint];
  const facts = { account: caller.account, header: (name: string) => request.header(name) };
  try {
    operation.checkContentType(request.header("content-type"));
    const counted = await read(await readBody(request, caller.account, body), services.operations, facts);
    observer.requested({ model: counted.model, stream: false }, catalog.current.get(counted.model)?.id);
    const allowance = await services.findAllowance(caller.plan);
    const { model } = services.entitlements.of(caller, allowance, catalog.current, counted.model);
    requireModelType(model, operation);
    return await counted.count(model, loadRoom(services, request, caller.account));
  } finally {
    body.pendingBodies.drop(request);
  }
}
