import { isError } from "../runtime/host-code.js";

/**
 * An error without a stack trace: one that is thrown to become an answer, as often as a client likes to provoke it. To
 * collect the trace would take longer than all else that a refusal costs, and nobody would read it.
 */
export class QuietError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    setStackTraceLimit(0);
    super(message, options);
    setStackTraceLimit(stackTraceLimit);
  }
}

/** Read-only where the host runs with frozen intrinsics. */
const isWritable = Object.getOwnPropertyDescriptor(Error, "stackTraceLimit")?.writable === true;

function setStackTraceLimit(limit: number): void {
  if (isWritable) Error.stackTraceLimit = limit;
}

/** What an OpenAI client gets to read: the `error` object of an error answer (OpenAI reference, "Error codes"). */
export interface ErrorObject {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

export interface GatewayErrorOptions {
  status: number;
  code: string;
  /** Default: `invalid_request_error`. */
  type?: string;
  /** Dotted path of the request member at fault. Default: `null`. */
  param?: string | null;
  /** Further response headers, names in lower case. */
  headers?: Readonly<Record<string, string>>;
  /** What clients of Anthropic's go by, as `error.details`. Those of OpenAI's get its `moderation_details` alone. */
  details?: Readonly<Record<string, unknown>> | undefined;
  /** For the operator; never shown to the client. */
  cause?: unknown;
}

/**
 * A failure with the answer that a client gets for it. Every error answer of the gateway is made from one. Has no stack
 * trace; its `cause`, if any, does.
 */
export class GatewayError extends QuietError {
  override readonly name = "GatewayError";
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(message: string, options: GatewayErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = options.status;
    this.code = options.code;
    this.type = options.type ?? "invalid_request_error";
    this.param = options.param ?? null;
    this.headers = options.headers ?? {};
    this.details = options.details;
  }

  /** The same as `status`, for frameworks that read this name. */
  get statusCode(): number {
    return this.status;
  }
}

/** Also true for one from another copy of this package, such as its CommonJS build beside the ESM one. */
export function isGatewayError(value: unknown): value is GatewayError {
  return isError(value) && (value instanceof GatewayError || value.name === "GatewayError");
}

const realm = 'Bearer realm="infergate"';

export function missingKey(message: string): GatewayError {
  return new GatewayError(message, { status: 401, code: "invalid_api_key", headers: { "www-authenticate": realm } });
}

/** One text for unknown, revoked and expired keys, and never the key itself (RFC 6750, section 3.1). */
export function refusedKey(): GatewayError {
  return new GatewayError("Incorrect API key provided. Check the key in your account's dashboard.", {
    status: 401,
    code: "invalid_api_key",
    headers: { "www-authenticate": `${realm}, error="invalid_token"` },
  });
}

/** Whoever has the key may know: it comes to life again when it is enabled. */
export function disabledKey(): GatewayError {
  return new GatewayError("This API key is disabled. Enable it in your account's dashboard, or use another key.", {
    status: 401,
    code: "api_key_disabled",
    headers: { "www-authenticate": `${realm}, error="invalid_token"` },
  });
}

/** A page of another origin has sent a request that carries a session of the host's. */
export function crossSiteRequest(): GatewayError {
  const message =
    "This request is not from a page of this app, so its session does not count. Send it from the app's own origin, " +
    "or with an API key.";
  return new GatewayError(message, { status: 403, code: "cross_site_request" });
}

export function modelNotFound(model: string): GatewayError {
  return new GatewayError(
    `The model ${quoted(model)} does not exist. GET /v1/models lists the models that your key can use.`,
    { status: 404, code: "model_not_found", param: "model" },
  );
}

/** The request names no model, and the one that it means does not exist. */
export function usualModelNotFound(model: string): GatewayError {
  return new GatewayError(
    `The request names no model, which means ${quoted(model)}. That does not exist. Send 'model'. GET /v1/models lists the models that your key can use.`,
    { status: 404, code: "model_not_found", param: "model" },
  );
}

export function modelNotAllowed(model: string): GatewayError {
  return new GatewayError(
    `Your plan does not include the model ${quoted(model)}. GET /v1/models lists the models that your key can use.`,
    { status: 403, code: "model_not_allowed", param: "model" },
  );
}

/** @param message - the operator's words; `null`: the usual sentence. */
export function accountSuspended(message: string | null): GatewayError {
  return accountRefused(
    "account_suspended",
    message ?? "This account is suspended. Ask the operator of this service to reactivate it.",
  );
}

/** @param message - the operator's words; `null`: the usual sentence. */
export function budgetSuspended(message: string | null): GatewayError {
  return accountRefused(
    "budget_suspended",
    message ?? "Your use of this service is suspended. Ask the owner of your account to reactivate it.",
  );
}

export function accountWithoutPlan(): GatewayError {
  return accountRefused(
    "account_without_plan",
    "This account has no plan yet. Ask the operator of this service to set it up.",
  );
}

/** It lasts until the operator changes the account, so that a retry is of no use. */
function accountRefused(code: string, message: string): GatewayError {
  return new GatewayError(message, { status: 403, code, headers: { "x-should-retry": "false" } });
}

/** No target takes the call without a key of the account's own. */
export function ownKeyRequired(model: string): GatewayError {
  return new GatewayError(
    `The model ${quoted(model)} needs a key of your own for its server, and this service has none. Store one, then try again.`,
    { status: 400, code: "own_key_required", param: "model", headers: { "x-should-retry": "false" } },
  );
}

/** The model server refused the account's own key. @param cause - what it said, for the operator. */
export function ownKeyRefused(cause: unknown): GatewayError {
  return new GatewayError(
    "The model's server refused your own key. Check the key, its rights and its balance there, or store another one.",
    { status: 403, code: "own_key_refused", headers: { "x-should-retry": "false" }, cause },
  );
}

/** The model server finds the account's own key at its limit. @param seconds - until when, where the server says it. */
export function ownKeyLimited(seconds: string | undefined, cause: unknown): GatewayError {
  const again = seconds === undefined ? "Try again shortly." : `Try again in ${seconds}s.`;
  return new GatewayError(`Your own key is at its limit with the model's server. ${again}`, {
    ...{ status: 429, code: "own_key_limited", type: "requests", cause },
    headers: seconds === undefined ? {} : { "retry-after": seconds },
  });
}

/** @param why - a sentence, where it is known. */
export function unknownUrl(method: string, path: string, why?: string): GatewayError {
  const message = `Invalid URL (${method} ${shortened(path)}).`;
  return new GatewayError(why === undefined ? message : `${message} ${why}`, { status: 404, code: "unknown_url" });
}

export function invalidJson(message: string): GatewayError {
  return new GatewayError(message, { status: 400, code: "invalid_json" });
}

/** @param advice - a sentence, where something else in the request shows what is wrong. */
export function missingParameter(param: string, advice?: string): GatewayError {
  const message = `Missing required parameter: '${param}'.`;
  return new GatewayError(advice === undefined ? message : `${message} ${advice}`, {
    status: 400,
    code: "missing_required_parameter",
    param,
  });
}

export function invalidType(param: string, expected: string): GatewayError {
  return new GatewayError(`Invalid type for '${param}': expected ${expected}.`, {
    status: 400,
    code: "invalid_type",
    param,
  });
}

export function invalidValue(param: string | null, message: string): GatewayError {
  return new GatewayError(message, { status: 400, code: "invalid_value", param });
}

export function serviceUnavailable(message: string, cause?: unknown): GatewayError {
  return new GatewayError(message, {
    status: 503,
    code: "service_unavailable",
    type: "service_unavailable_error",
    headers: { "retry-after": "5" },
    cause,
  });
}

/** The model did not answer. Costs nothing, so a retry is welcome. */
export function badGateway(
  message: string,
  options: { headers?: Record<string, string>; cause?: unknown } = {},
): GatewayError {
  return new GatewayError(message, { status: 502, code: "bad_gateway", type: "server_error", ...options });
}

/** The upstream, or what the gateway lets through to it, is at its limit: a little patience mends it. */
export function atCapacity(headers: Readonly<Record<string, string>>, cause?: unknown): GatewayError {
  return new GatewayError("The model is at its capacity. Try again shortly.", {
    status: 429,
    code: "rate_limit_exceeded",
    type: "requests",
    headers,
    cause,
  });
}

/** The model may be at work still, and paid for: clients must not send the same again by themselves. */
export function upstreamTimeout(cause?: unknown): GatewayError {
  return new GatewayError("The model did not answer in time.", {
    status: 504,
    code: "upstream_timeout",
    type: "server_error",
    headers: { "x-should-retry": "false" },
    cause,
  });
}

/** Our own bug: no detail leaves. */
export function internalError(cause: unknown): GatewayError {
  return new GatewayError("The gateway had an error while processing your request.", {
    status: 500,
    code: "internal_error",
    type: "server_error",
    cause,
  });
}

/** Client text in a message: bounded, on one line. */
function quoted(text: string): string {
  return `'${shortened(text)}'`;
}

/** Client text without quotation marks, else as {@link quoted}. */
export function shortened(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get into a message
  const clean = text.replace(/[\u0000-\u001f\u007f]/g, " ");
  return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean;
}

/** The same error with further headers. */
export function withHeaders(error: GatewayError, headers: Readonly<Record<string, string>>): GatewayError {
  const { message, status, code, type, param, cause, details } = error;
  const all = { ...headers, ...error.headers };
  return new GatewayError(message, { status, code, type, param, cause, details, headers: all });
}
