import type { ModelEndpoint, ModelRequest } from "../endpoints/model-endpoint.js";
import type { AnswerContext } from "../openai/chat-answer.js";
import { ChatStream } from "../openai/chat-stream.js";
import {
  badGateway,
  type GatewayError,
  internalError,
  isGatewayError,
  serviceUnavailable,
  withHeaders,
} from "../openai/errors.js";
import type { UpstreamFailureContext } from "../openai/upstream-failure.js";
import { noTokens } from "../openai/usage.js";
import { isUpstreamError, type UpstreamAnswer, UpstreamError } from "../providers/upstream-provider.js";
import type { Caller } from "./accounts.js";
import { authorize, requireModelType } from "./authorize.js";
import type { CatalogModel } from "./catalog.js";
import { addCreditHeaders } from "./credit-headers.js";
import type { GatewayRequest, GatewayResponse } from "./exchange.js";
import { forward } from "./forward.js";
import { Call } from "./in-flight.js";
import type { Pipeline } from "./pipeline.js";
import { readBody } from "./read-body.js";
import { brokenOff, relayStream } from "./relay-stream.js";
import { relayWhole } from "./relay-whole.js";
import type { RequestLog } from "./request-log.js";
import { estimateCost, type Reservation, reserve } from "./reserve.js";
import { type Charge, endReasonOf, type Outcome, Settlement } from "./settle.js";
import { toUpstreamCall } from "./upstream-call.js";
import type { Warn } from "./warning.js";

/** One admitted call, on its way from `forward` to `settle`. */
interface ModelCall {
  readonly endpoint: ModelEndpoint;
  readonly asked: ModelRequest;
  readonly call: Call;
  readonly settlement: Settlement;
  readonly context: AnswerContext & UpstreamFailureContext;
  /** Settles the call and writes it down. The first outcome counts. */
  readonly finish: (outcome: Outcome) => Promise<Charge>;
}

/** A metered call, whatever the endpoint: authorize → reserve → forward → relay → settle. */
export async function callModel(
  pipeline: Pipeline,
  request: GatewayRequest,
  caller: Caller,
  log: RequestLog,
  endpoint: ModelEndpoint,
): Promise<GatewayResponse> {
  const asked = endpoint.parse(await readBody(request, pipeline), pipeline.maxBodyDepth);
  const remembered = pipeline.findAllowance(caller.plan);
  const found = remembered instanceof Promise ? await remembered : remembered;
  const { model, allowance } = authorize(caller, found, pipeline.catalog, asked.model);
  log.asked(model.id, asked.stream);
  requireModelType(model, endpoint.modelType);

  const { requestId } = log;
  const now = pipeline.clock.now();
  const prompt = endpoint.promptTokens(asked, model.contextLength);
  const amount = estimateCost(endpoint, asked, prompt, model, allowance);
  const { inFlight } = pipeline;
  // The body may have been on its way when the gateway began to close.
  if (inFlight.closing) throw serviceUnavailable("The gateway is shutting down. Try again shortly.");
  const call = new Call();
  inFlight.enter(call);
  let reservation: Reservation | undefined;
  try {
    reservation = await reserve(pipeline, { requestId, caller, allowance, model, amount, now });
  } catch (error) {
    inFlight.leave(call);
    throw error;
  }
  const settlement = new Settlement({
    ledger: pipeline.ledger,
    keeper: pipeline.keeper,
    warn: pipeline.warn,
    clock: pipeline.clock,
    reservation,
    price: model.price,
    tags: { key: caller.keyId, model: model.id },
  });
  const modelCall = begin(pipeline, request, { endpoint, asked, call, settlement, model, log, now, prompt });
  const { finish, context } = modelCall;
  try {
    if (call.abortReason !== undefined) throw new UpstreamError("aborted", "The client left before the call was made.");
    log.upstreamCalled();
    const upstream = await forward(
      model.provider,
      toUpstreamCall({
        endpoint: endpoint.path,
        model: model.upstreamModel,
        body: endpoint.toUpstreamBody(asked, { model: model.upstreamModel, maxOutputTokens: model.maxOutputTokens }),
        stream: asked.stream,
        notice: call.notice,
        requestId,
      }),
      context,
    );
    return asked.stream
      ? await streamResponse(pipeline, modelCall, upstream)
      : await wholeResponse(pipeline, modelCall, upstream);
  } catch (thrown) {
    const error = toGatewayError(thrown, call);
    const { windows } = await finish({ reason: endReason(error, call), tokens: noTokens, source: undefined, error });
    throw windows === undefined ? error : withHeaders(error, addCreditHeaders({}, windows));
  }
}

/** From here on the call ends by `finish`, whoever it is that ends it. */
function begin(
  { inFlight, warn }: Pipeline,
  request: GatewayRequest,
  parts: {
    endpoint: ModelEndpoint;
    asked: ModelRequest;
    call: Call;
    settlement: Settlement;
    model: CatalogModel;
    log: RequestLog;
    now: number;
    /** Estimated tokens. */
    prompt: number;
  },
): ModelCall {
  const { endpoint, asked, call, settlement, model, log, now, prompt } = parts;
  const clientGone = () => call.abort("client_gone");
  let charge: Promise<Charge> | undefined;
  const settle = async (outcome: Outcome): Promise<Charge> => {
    request.signal.removeEventListener("abort", clientGone);
    const { tokens, source } = outcome;
    const settled = await (source === undefined ? settlement.release() : settlement.charge(tokens, source));
    log.ended(outcome, settled);
    warnOfUpstream(outcome, model, warn, log.requestId);
    const { repeating } = settlement;
    if (repeating === undefined) inFlight.leave(call);
    else void repeating.then(() => inFlight.leave(call));
    return settled;
  };
  const finish = (outcome: Outcome): Promise<Charge> => {
    charge ??= settle(outcome);
    return charge;
  };
  call.whenAbandoned((reason) => finish({ reason, tokens: noTokens, source: undefined }));
  settlement.hold();
  if (request.signal.aborted) clientGone();
  else request.signal.addEventListener("abort", clientGone);
  return {
    endpoint,
    asked,
    call,
    settlement,
    finish,
    context: {
      model: model.id,
      upstreamModel: model.upstreamModel,
      promptParam: endpoint.promptParam,
      promptTokens: prompt,
      created: Math.floor(now / 1000),
      completionId: `chatcmpl-${log.requestId.slice("req_".length)}`,
      now,
    },
  };
}

async function wholeResponse(
  pipeline: Pipeline,
  { endpoint, asked, context, settlement, call, finish }: ModelCall,
  upstream: UpstreamAnswer,
): Promise<GatewayResponse> {
  let received = 0;
  const seen = () => endpoint.partialTokens(context.promptTokens, received);
  settlement.hold(seen);
  // A client that leaves pays for what the model has done; that the gateway closes is not the client's doing.
  call.whenAbandoned((reason) =>
    finish({ reason, tokens: seen(), source: reason === "client_gone" ? "partial" : undefined }),
  );
  const answer = await relayWhole(upstream, { endpoint, asked }, context, pipeline, (bytes) => {
    received = bytes;
  });
  const { tokens, estimated } = answer;
  const { windows } = await finish({ reason: "completed", tokens, source: estimated ? "estimated" : "provider" });
  return { status: 200, headers: withStock({ "content-type": "application/json" }, windows), body: answer.body };
}

async function streamResponse(
  pipeline: Pipeline,
  { asked, call, settlement, context, finish }: ModelCall,
  upstream: UpstreamAnswer,
): Promise<GatewayResponse> {
  const stream = new ChatStream({ ...context, includeUsage: asked.includeUsage });
  settlement.hold(() => stream.tokens);
  call.whenAbandoned((reason) => finish(brokenOff(reason, stream)));
  const pieces = relayStream(upstream, stream, call, context, pipeline, finish);
  // Failures before the first piece still become a status of their own.
  const first = await pieces.next();
  return {
    status: 200,
    headers: withStock({ ...streamHeaders }, settlement.windows),
    body: first.done ? pieces : startingWith(first.value, pieces),
  };
}

function warnOfUpstream({ error }: Outcome, model: CatalogModel, warn: Warn, requestId: string): void {
  if (error === undefined || (error.status !== 502 && error.status !== 504)) return;
  const { cause, message } = error;
  const problem = cause instanceof Error ? cause.message : message;
  const { id, providerName, upstreamModel } = model;
  const which = `The provider "${providerName}" failed for the model "${id}" (there "${upstreamModel}")`;
  warn({ code: "upstream_failed", message: `${which}: ${problem}`, cause, requestId });
}

/** `no-transform` keeps compressing middleware and proxies, `x-accel-buffering` keeps nginx from holding events back. */
const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
  "x-content-type-options": "nosniff",
};

function withStock(headers: Record<string, string>, windows: Charge["windows"]): Record<string, string> {
  return windows === undefined ? headers : addCreditHeaders(headers, windows);
}

function startingWith(first: Uint8Array, rest: AsyncGenerator<Uint8Array, void, void>): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array | undefined = first;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (waiting === undefined) return rest.next();
        const value = waiting;
        waiting = undefined;
        return Promise.resolve({ done: false, value });
      },
      return: () => rest.return(undefined),
    }),
  };
}

function toGatewayError(thrown: unknown, call: Call): GatewayError {
  if (call.abortReason === "shutdown") return serviceUnavailable("The gateway is shutting down. Try again shortly.");
  if (isGatewayError(thrown)) return thrown;
  return isUpstreamError(thrown)
    ? badGateway("The model did not answer. Try again.", { cause: thrown })
    : internalError(thrown);
}

function endReason(error: GatewayError, call: Call): Outcome["reason"] {
  return call.abortReason ?? endReasonOf(error);
}
