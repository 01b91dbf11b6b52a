import type { Allowance, Caller } from "../access/accounts.js";
import { authorize, requireModelType } from "../access/authorize.js";
import type { CatalogModel } from "../access/catalog.js";
import { badGateway, type GatewayError, internalError, isGatewayError, withHeaders } from "../errors/gateway-error.js";
import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import { readBody } from "../http/read-body.js";
import type { ReserveResult, WindowStates } from "../ledger/credit-ledger.js";
import type { Micro } from "../metering/micro.js";
import type { AnswerContext } from "../openai/chat/chat-answer.js";
import { ChatStream } from "../openai/chat/chat-stream.js";
import type { ModelAnswer } from "../openai/model-answer.js";
import type { UpstreamFailureContext } from "../openai/upstream-errors/upstream-failure.js";
import type { ModelEndpoint, ModelRequest } from "../operations/model-endpoint.js";
import type { DirectAnswer } from "../providers/direct-call.js";
import { isUpstreamError, type UpstreamAnswer, UpstreamError } from "../providers/upstream-provider.js";
import { endReasonOf, type Outcome } from "../routing/outcome.js";
import { isRefusal } from "../routing/provider-refusal.js";
import type { Target } from "../routing/target.js";
import { verdictOf } from "../routing/target-health.js";
import type { Route } from "../routing/target-route.js";
import type { AbortNotifier } from "./abort-notifier.js";
import { addCreditHeaders } from "./admission/credit-headers.js";
import { denialError } from "./admission/denial.js";
import { requireFit } from "./admission/require-fit.js";
import { estimateCost, type Reservation, reserve } from "./admission/reserve.js";
import { callByRoute } from "./call-by-route.js";
import { Drain } from "./client-left.js";
import { drainable } from "./drainable.js";
import { type Demand, Meter } from "./meter.js";
import { Call } from "./open-calls.js";
import type { Pipeline } from "./pipeline.js";
import { abortError, shuttingDown } from "./relay/abort-error.js";
import { relayWhole, toModelAnswer } from "./relay/relay-whole.js";
import { forward } from "./relay/send.js";
import { StreamRelay } from "./relay/stream-relay.js";
import { brokenOff } from "./relay/until-aborted.js";
import type { UpstreamCallParts } from "./relay/upstream-call.js";
import { WholeProgress } from "./relay/whole-progress.js";
import type { RequestLog } from "./request-log.js";
import { type Charge, Settlement } from "./settle.js";
import { secretsOf, warnOfUpstream } from "./warn-of-upstream.js";

/** One admitted call, on its way from `forward` to `settle`. */
interface ModelCall {
  readonly endpoint: ModelEndpoint;
  readonly asked: ModelRequest;
  readonly call: Call;
  /** Ends the reading of the answer: the call's own, or that of one attempt. */
  readonly notice: AbortNotifier;
  readonly settlement: Settlement;
  readonly context: AnswerContext & UpstreamFailureContext;
  readonly demand: Demand;
  /** `undefined`: a client that leaves ends the call. */
  readonly drain: Drain | undefined;
  /** Settles the call and writes it down. The first outcome counts. */
  readonly finish: (outcome: Outcome) => Charge | Promise<Charge>;
}

/** A metered call, whatever the endpoint: authorize → reserve → forward → relay → settle. */
export async function callModel(
  pipeline: Pipeline,
  request: GatewayRequest,
  caller: Caller,
  log: RequestLog,
  endpoint: ModelEndpoint,
): Promise<GatewayResponse> {
  const { inFlight, pendingBodies } = pipeline;
  const call = new Call();
  let admitted: Admitted;
  let reservation: Reservation | undefined;
  try {
    const parsed = endpoint.parse(await readBody(request, caller.account, pipeline), pipeline.maxBodyDepth);
    const asked = parsed instanceof Promise ? await parsed : parsed;
    requireWanted(pipeline, request);
    const remembered = pipeline.findAllowance(caller.plan);
    const found = remembered instanceof Promise ? await remembered : remembered;
    admitted = admit(pipeline, caller, found, { endpoint, asked }, log);
    requireWanted(pipeline, request);
    inFlight.enter(call);
    const reserved = reserve(pipeline, log.requestId, caller, admitted);
    reservation = granted(reserved instanceof Promise ? await reserved : reserved);
  } catch (error) {
    inFlight.leave(call);
    pendingBodies.drop(request);
    throw error;
  }
  // From here on what the account holds bounds its calls, if anything does.
  if (reservation !== undefined && isLimited(reservation.windows)) pendingBodies.drop(request);

  const { demand, model } = admitted;
  const modelCall = begin(pipeline, request, { call, admitted, reservation, log, keyId: caller.keyId });
  const { drain } = modelCall;
  try {
    if (call.abortReason !== undefined || drain?.hasLeft) {
      throw new UpstreamError("aborted", "The client left before the call was made.");
    }
    if (model.route !== undefined) {
      return await routedResponse(pipeline, request, modelCall, model, model.route, log);
    }
    const { target } = model;
    call.enter(target);
    log.upstreamCalled(target);
    const toCall = upstreamCall(modelCall, model, target, call.notice, log.requestId);
    const meter = new Meter(demand, pipeline.clock);
    call.meter = meter;
    const upstream = await forward(target.provider, toCall, modelCall.context, meter);
    log.upstreamAnswered();
    const response = demand.asked.stream
      ? streamResponse(pipeline, modelCall, upstream, meter)
      : wholeResponse(pipeline, modelCall, upstream, meter);
    return response instanceof Promise ? await response : response;
  } catch (thrown) {
    throw await failed(modelCall, thrown);
  }
}

/** Ends the call by what was thrown. @returns the error for the client. */
async function failed({ call, drain, finish }: ModelCall, thrown: unknown): Promise<GatewayError> {
  const error = toGatewayError(thrown, call);
  const isGone = drain?.hasLeft === true && isUpstreamError(thrown);
  const { windows } = await finish(isGone ? { reason: "client_gone" } : { reason: endReason(error, call), error });
  return windows === undefined ? error : withHeaders(error, addCreditHeaders({}, windows));
}

/** A call that the account may make. */
interface Admitted {
  readonly model: CatalogModel;
  readonly allowance: Allowance;
  readonly demand: Demand;
  /** The most that it can cost. */
  readonly amount: Micro;
  /** When it was admitted. */
  readonly now: number;
}

/** Lets a call in that the account may make, if it can pay for it. */
function admit(
  { catalog, clock }: Pipeline,
  caller: Caller,
  found: Allowance | undefined,
  { endpoint, asked }: { endpoint: ModelEndpoint; asked: ModelRequest },
  log: RequestLog,
): Admitted {
  const { model, allowance } = authorize(caller, found, catalog, asked.model);
  log.asked(model.id, asked.stream);
  requireModelType(model, endpoint.modelType);
  requireFit(endpoint, asked, model);
  const now = clock.now();
  const promptTokens = endpoint.promptTokens(asked, model);
  const amount = estimateCost(endpoint, asked, promptTokens, model, allowance);
  const demand = { endpoint, asked, model, defaultOutputTokens: allowance.defaultOutputTokens, promptTokens };
  return { model, allowance, demand, amount, now };
}

/** @throws GatewayError 429 when the stock does not cover it. */
function granted(result: ReserveResult | undefined): Reservation | undefined {
  if (result?.ok === false) throw denialError(result);
  return result;
}

/** The client may have left, or the gateway begun to close, while the body came or was read, or a store was asked. */
function requireWanted({ inFlight }: Pipeline, { signal }: GatewayRequest): void {
  if (signal.aborted) throw goneMeanwhile();
  if (inFlight.closing) throw shuttingDown();
}

function isLimited({ session, week, month }: WindowStates): boolean {
  return session.limitMicro !== null || week.limitMicro !== null || month.limitMicro !== null;
}

/** From here on the call ends by `finish`, whoever it is that ends it. */
function begin(
  pipeline: Pipeline,
  request: GatewayRequest,
  parts: {
    call: Call;
    admitted: Admitted;
    /** `undefined` for a model that costs nothing. */
    reservation: Reservation | undefined;
    log: RequestLog;
    keyId: string;
  },
): ModelCall {
  const { inFlight, pendingBodies, warn, clock, ledger, keeper, maxAnswerMs } = pipeline;
  const { call, admitted, reservation, log, keyId } = parts;
  const { demand, model, allowance, now } = admitted;
  const { endpoint, asked, promptTokens } = demand;
  const { price } = model.target;
  const settlement = new Settlement({
    ledger,
    keeper,
    warn,
    reservation,
    price,
    tags: { keyId, model: model.id },
  });
  const drain = drainOf(allowance.drain ?? model.drain, call);
  const clientGone = (): void => {
    if (request.stalled) log.clientStalled();
    if (drain === undefined) call.abort("client_gone");
    else drain.clientGone();
  };
  let charge: Charge | Promise<Charge> | undefined;
  const finish = (ending: Outcome): Charge | Promise<Charge> => {
    if (charge !== undefined) return charge;
    request.signal.removeEventListener("abort", clientGone);
    pendingBodies.drop(request);
    const target = call.target ?? model.target;
    // What is broken off from this side says nothing of the target.
    call.leaveTarget(call.abortReason === undefined ? verdictOf(ending) : "unknown", clock);
    const outcome = drain === undefined ? ending : drain.ended(ending);
    // What the host's own provider refuses may never have reached a model.
    const isRefused = ending.error !== undefined && isRefusal(ending.error);
    const hasLeft = ending.reason === "client_gone" || (drain?.hasLeft === true && !isRefused);
    const bill = call.meter?.bill(ending.reason, hasLeft);
    const ended = (settled: Charge): Charge => {
      log.ended(outcome, settled);
      if (ending.error !== call.reported) warnOfUpstream(ending.error, model.id, target, warn, log.requestId);
      inFlight.leave(call);
      return settled;
    };
    const settled = bill === undefined ? settlement.release() : settlement.charge(bill.tokens, bill.source);
    // Known before anybody is told of it, who may end the call once more.
    charge = settled;
    if (settled instanceof Promise) charge = settled.then(ended);
    else ended(settled);
    return charge;
  };
  call.whenAbandoned((reason) => finish({ reason }));
  settlement.hold(() => call.meter?.seen);
  if (maxAnswerMs !== undefined) call.limit(maxAnswerMs, () => drain?.timeUp());
  if (request.signal.aborted) clientGone();
  else request.signal.addEventListener("abort", clientGone);
  return {
    endpoint,
    asked,
    call,
    notice: call.notice,
    settlement,
    finish,
    drain,
    demand,
    context: {
      model: model.id,
      upstreamModel: model.target.upstreamModel,
      dialect: model.target.provider.dialect,
      secrets: secretsOf(model.target),
      answers: model.target.answers,
      promptParam: endpoint.promptParam,
      promptTokens,
      created: Math.floor(now / 1000),
      completionId: `chatcmpl-${log.requestId.slice("req_".length)}`,
      now,
    },
  };
}

function drainOf(limits: CatalogModel["drain"], call: Call): Drain | undefined {
  return limits === undefined || limits === "cancel" ? undefined : new Drain(limits, call);
}

/** The same by way of several targets, or of one that may be tried again. */
function routedResponse(
  pipeline: Pipeline,
  request: GatewayRequest,
  modelCall: ModelCall,
  model: CatalogModel,
  route: Route,
  log: RequestLog,
): Promise<GatewayResponse> {
  const { asked, call, settlement, finish, demand } = modelCall;
  const routed = { model: model.id, route, call, settlement, log, client: request.signal, demand };
  return callByRoute(pipeline, routed, async (target, attempt, meter) => {
    const { upstreamModel, provider, answers } = target;
    const { dialect } = provider;
    const secrets = secretsOf(target);
    const context = { ...modelCall.context, upstreamModel, dialect, secrets, answers, now: pipeline.clock.now() };
    const toCall = upstreamCall(modelCall, model, target, attempt.notice, log.requestId);
    const upstream = await forward(target.provider, toCall, context, meter);
    log.upstreamAnswered();
    const holdsStatus = target.timeoutMs !== undefined;
    const { notice } = attempt;
    const attemptCall = { ...modelCall, context, notice, finish: attempt.ending(finish), holdsStatus };
    return asked.stream
      ? await streamResponse(pipeline, attemptCall, upstream, meter)
      : await wholeResponse(pipeline, attemptCall, upstream, meter);
  });
}

function upstreamCall(
  { endpoint, asked }: ModelCall,
  { maxOutputTokens, lacking }: CatalogModel,
  { upstreamModel: model, provider, rules }: Target,
  notice: AbortNotifier,
  requestId: string,
): UpstreamCallParts {
  const dialect = rules.dialectFor(asked, provider.dialect);
  const body = endpoint.toUpstreamBody(asked, { model, maxOutputTokens, dialect, lacking });
  return { endpoint: endpoint.path, model, body, stream: asked.stream, notice, requestId };
}

/** @returns no promise where all of the answer has come already, as a short one does: that saves some turns of each request. */
function wholeResponse(
  pipeline: Pipeline,
  modelCall: ModelCall,
  upstream: DirectAnswer,
  meter: Meter,
): GatewayResponse | Promise<GatewayResponse> {
  const { endpoint, demand, drain } = modelCall;
  const progress = new WholeProgress(endpoint, demand.promptTokens);
  meter.progress = progress;
  // How far it is read when the client leaves must not depend on how it came.
  const whole = drain === undefined ? upstream.takeWhole?.() : undefined;
  if (whole !== undefined) return finishWhole(modelCall, progress, toModelAnswer(whole, modelCall, pipeline));
  const answered = relayWhole(upstream.body, modelCall, pipeline, (bytes) => {
    progress.received = bytes;
    drain?.progress(progress.tokens.output);
  });
  return answered.then((answer) => finishWhole(modelCall, progress, answer));
}

function finishWhole(
  { finish, drain }: ModelCall,
  progress: WholeProgress,
  answer: ModelAnswer,
): GatewayResponse | Promise<GatewayResponse> {
  const respond = ({ windows }: Charge): GatewayResponse => {
    if (drain?.hasLeft) throw goneMeanwhile();
    return { status: 200, headers: withStock({ "content-type": "application/json" }, windows), body: answer.body };
  };
  progress.answer = answer;
  const finished = finish({ reason: "completed" });
  return finished instanceof Promise ? finished.then(respond) : respond(finished);
}

async function streamResponse(
  pipeline: Pipeline,
  {
    asked,
    call,
    notice,
    settlement,
    context,
    finish,
    drain,
    holdsStatus = false,
  }: ModelCall & { holdsStatus?: boolean },
  upstream: UpstreamAnswer,
  meter: Meter,
): Promise<GatewayResponse> {
  const stream = new ChatStream({ includeUsage: asked.includeUsage, ...context });
  const flow = meter.follow(stream);
  const { keepAliveMs, maxEventBytes, maxAnswerBytes } = pipeline;
  const options = { keepAliveMs, maxEventBytes, maxAnswerBytes, holdsStatus, flow, notice };
  const pieces = new StreamRelay(upstream.body, stream, call, context, options, finish);
  // Failures before the first piece still become a status of their own.
  const first = await pieces.next();
  // Its attempt may have ended in the same turn: the call is another target's then.
  if (notice.aborted && !call.notice.aborted) throw brokenOff();
  if (call.isProbe) call.confirm();
  const body = first.done ? pieces : startingWith(first.value, pieces);
  if (drain === undefined) {
    return { status: 200, headers: withStock(streamHeaders(), settlement.windows), body };
  }
  const rest = drainable(body, drain, () => stream.tokens.output);
  if (drain.hasLeft) {
    await rest.ended;
    throw goneMeanwhile();
  }
  return { status: 200, headers: withStock(streamHeaders(), settlement.windows), body: rest.body };
}

/** Nobody is there any more for what was read to the end. */
function goneMeanwhile(): UpstreamError {
  return new UpstreamError("aborted", "The client has left.");
}

/** `no-transform` keeps compressing middleware and proxies, `x-accel-buffering` keeps nginx from holding events back. */
function streamHeaders(): Record<string, string> {
  // Spelled out each time: a copy would take microseconds for each header that is added to it.
  return {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
  };
}

function withStock(headers: Record<string, string>, windows: Charge["windows"]): Record<string, string> {
  return windows === undefined ? headers : addCreditHeaders(headers, windows);
}

function startingWith(first: Uint8Array, rest: StreamRelay): AsyncIterable<Uint8Array> {
  let waiting: Uint8Array | undefined = first;
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        if (waiting === undefined) return rest.next();
        const value = waiting;
        waiting = undefined;
        return Promise.resolve({ done: false, value });
      },
      return: () => rest.return(),
    }),
  };
}

function toGatewayError(thrown: unknown, call: Call): GatewayError {
  const aborted = call.abortReason === undefined ? undefined : abortError(call.abortReason);
  if (aborted !== undefined) return aborted;
  if (isGatewayError(thrown)) return thrown;
  return isUpstreamError(thrown)
    ? badGateway("The model did not answer. Try again.", { cause: thrown })
    : internalError(thrown);
}

function endReason(error: GatewayError, call: Call): Outcome["reason"] {
  return call.abortReason ?? endReasonOf(error);
}
