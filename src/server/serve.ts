import type { Caller } from "../access/accounts.js";
import { authenticate, requireValid } from "../access/authenticate.js";
import { authorize, mayUse } from "../access/authorize.js";
import { callModel } from "../call/call-model.js";
import type { Pipeline } from "../call/pipeline.js";
import { RequestLog } from "../call/request-log.js";
import {
  GatewayError,
  internalError,
  isGatewayError,
  serviceUnavailable,
  toErrorJson,
  unknownUrl,
} from "../errors/gateway-error.js";
import { corsHeaders, preflightHeaders } from "../http/cors.js";
import { type GatewayRequest, type GatewayResponse, isBodyError } from "../http/message.js";
import { type BodyOptions, bodyFailure } from "../http/read-body.js";
import { chatCompletions } from "../operations/chat-completions.js";
import { embeddings } from "../operations/embeddings.js";
import { modelList } from "./model-record.js";
import { matchRoute, type Route } from "./paths.js";
import { reportUsage } from "./report-usage.js";

/** The one file that knows the order: route, authenticate, then what the endpoint does. Never rejects. */
export async function run(pipeline: Pipeline, request: GatewayRequest): Promise<GatewayResponse> {
  const route = matchRoute(request.path);
  const log = new RequestLog(route?.endpoint, pipeline);
  let response: GatewayResponse;
  try {
    const answered = answer(pipeline, request, route, log);
    response = answered instanceof Promise ? await answered : answered;
  } catch (thrown) {
    response = errorResponse(thrown, request, log, pipeline);
  }
  response.headers["x-request-id"] = log.requestId;
  if (pipeline.cors !== undefined)
    Object.assign(response.headers, corsHeaders(pipeline.cors, request.header("origin")));
  log.answered(response);
  return response;
}

function answer(
  pipeline: Pipeline,
  request: GatewayRequest,
  route: Route | undefined,
  log: RequestLog,
): GatewayResponse | Promise<GatewayResponse> {
  // A browser asks before it learns that there is no such path; it must be able to read the answer that says so.
  if (request.method === "OPTIONS" && (route !== undefined || pipeline.cors !== undefined)) {
    return optionsResponse(pipeline, request, route?.methods ?? []);
  }
  // An adapter marks a path outside of where the gateway is mounted by a second slash.
  if (route === undefined) throw unknownUrl(request.method, request.path.replace(/^\/\//, "/"));
  if (route.endpoint === "responses") throw noResponsesEndpoint();
  if (!route.methods.includes(request.method)) throw methodNotSupported(request.method, route);
  if (route.endpoint === "healthz") return json('{"status":"ok"}', { "cache-control": "no-store" });
  if (pipeline.inFlight.closing) throw serviceUnavailable("The gateway is shutting down. Try again shortly.");

  const found = authenticate(request.header("authorization"), pipeline.findCaller);
  if (found instanceof Promise) return found.then((caller) => answerCaller(pipeline, request, route, log, caller));
  return answerCaller(pipeline, request, route, log, found);
}

type KeyedRoute = Exclude<Route, { endpoint: "healthz" | "responses" }>;

/** What takes a key. */
function answerCaller(
  pipeline: Pipeline,
  request: GatewayRequest,
  route: KeyedRoute,
  log: RequestLog,
  caller: Caller,
): Promise<GatewayResponse> {
  log.authenticated(caller);
  requireValid(caller, pipeline.clock.now());
  switch (route.endpoint) {
    case "chat/completions":
      return callModel(pipeline, request, caller, log, chatCompletions);
    case "embeddings":
      return callModel(pipeline, request, caller, log, embeddings);
    default:
      return answerFromPlan(pipeline, route, log, caller);
  }
}

/** What takes no model: the list of those that the plan allows, and what is left of it. */
async function answerFromPlan(
  pipeline: Pipeline,
  route: Exclude<KeyedRoute, { endpoint: "chat/completions" | "embeddings" }>,
  log: RequestLog,
  caller: Caller,
): Promise<GatewayResponse> {
  const allowance = await pipeline.findAllowance(caller.plan);
  if (route.endpoint === "usage") {
    return json(await reportUsage(pipeline, caller, allowance, log.requestId), { "cache-control": "no-store" });
  }
  if (route.endpoint === "models") {
    const visible = [...pipeline.catalog.values()].filter(({ id }) => mayUse(caller, allowance, id));
    return json(modelList(visible.map(({ record }) => record)));
  }
  return json(authorize(caller, allowance, pipeline.catalog, route.model).model.record);
}

function json(body: string, headers: Record<string, string> = {}): GatewayResponse {
  return { status: 200, headers: { "content-type": "application/json", ...headers }, body };
}

/** Failures of ours are told to the host, never to the client. */
function errorResponse(thrown: unknown, request: GatewayRequest, log: RequestLog, pipeline: Pipeline): GatewayResponse {
  if (request.signal.aborted) {
    log.failed("client_gone");
    return { status: 499, headers: {}, body: null };
  }
  const error = toGatewayError(thrown, pipeline);
  log.failed(error.code);
  if (error.code === "internal_error") {
    pipeline.warn({
      code: "internal_error",
      message: "A bug in the gateway: a request got a 500.",
      cause: thrown,
      requestId: log.requestId,
    });
  }
  return {
    status: error.status,
    // In this order: an object that begins as a copy of another one takes microseconds for each member that is added.
    headers: { "content-type": "application/json", ...error.headers },
    body: toErrorJson(error),
  };
}

function toGatewayError(thrown: unknown, options: BodyOptions): GatewayError {
  if (isGatewayError(thrown)) return thrown;
  return isBodyError(thrown) ? bodyFailure(thrown, options) : internalError(thrown);
}

function optionsResponse({ cors }: Pipeline, request: GatewayRequest, methods: readonly string[]): GatewayResponse {
  const headers: Record<string, string> = methods.length === 0 ? {} : { allow: methods.join(", ") };
  if (cors !== undefined) Object.assign(headers, preflightHeaders(request.header("access-control-request-headers")));
  return { status: 204, headers, body: null };
}

function methodNotSupported(method: string, route: Route): GatewayError {
  const allow = route.methods.join(", ");
  return new GatewayError(`Not allowed to ${method} on this path. Use ${allow}.`, {
    status: 405,
    code: "method_not_supported",
    headers: { allow },
  });
}

/** What AI SDK and Agents call by default; the message says how to make them call what is served. */
function noResponsesEndpoint(): GatewayError {
  return new GatewayError(
    "This server does not offer the Responses API (/v1/responses). Use chat completions instead: with the OpenAI SDK " +
      "client.chat.completions.create(), with the AI SDK openai.chat('model') or @ai-sdk/openai-compatible, with the " +
      "Agents SDK setOpenAIAPI('chat_completions'), with LangChain useResponsesApi: false.",
    { status: 404, code: "unknown_url" },
  );
}
