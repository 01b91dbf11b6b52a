import { atCapacity, badGateway, GatewayError, upstreamTimeout } from "../../errors/gateway-error.js";
import { UpstreamStatusError } from "../../errors/upstream-fault.js";
import { type RedactContext, redact, redactKeys } from "../../redaction/redact.js";
import { isRecord } from "../../wire/is-record.js";
import { type Dialect, readErrorResponse } from "./dialect.js";
import { moderationDetails, moderationMember } from "./openai-protocol.js";
import { isOwnAccount } from "./own-account.js";
import { readRetryAfter } from "./retry-after.js";
import { findReport } from "./usage-report.js";
import { readReport } from "./usage-tally.js";

/** The longest wait that an upstream may ask of a client, in seconds. */
const longestWait = 60;

/** What is needed to convert an upstream's error, and to redact it. */
export interface UpstreamFailureContext extends RedactContext {
  /** The request's member that can be too long for a model. */
  readonly promptParam: string;
  /** When the attempt began, in epoch milliseconds: to read a `Retry-After` date. */
  readonly startedAt: number;
  /** The dialect of the target's server. */
  readonly dialect?: Dialect | undefined;
}

interface UpstreamErrorObject {
  message: string;
  type: string;
  code: string;
  param: string | null;
  /** What it says of a request that it has blocked. */
  moderation?: unknown;
}

/**
 * Converts an upstream's error response for the client. The client's own mistakes become a 400, shared capacity a 429.
 * Everything between the gateway and the upstream becomes a 502 without details.
 *
 * @param said - the parsed JSON of the response; `undefined` when it was none.
 */
export function toClientError(
  answered: number,
  headers: Readonly<Record<string, string>>,
  said: unknown,
  context: UpstreamFailureContext,
): GatewayError {
  const { status, body } = readErrorResponse(context.dialect, { status: answered, body: said }, context);
  return clientError(status, headers, body, context);
}

function clientError(
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  context: UpstreamFailureContext,
): GatewayError {
  const error = readErrorObject(body);
  const said = `${error.type} ${error.code} ${error.message}`;
  const cause = (who = "The upstream", advice = "", refusesKey: boolean | "unsure" = false) =>
    new UpstreamStatusError(status, `${who} answered ${status}.${advice}`, {
      retryAfterMs: toMilliseconds(readRetryAfter(headers, context.startedAt)),
      used: isRecord(body) ? readReport(findReport(body))?.tokens : undefined,
      said: redactKeys(error.message, context.secrets),
      refusesKey,
    });
  const isCertain = status === 401 || status === 402 || isOwnAccount(error);
  if (isCertain || status === 403) return refusedByUpstream(cause, isCertain ? true : "unsure");
  if (status === 429) return atCapacity(retryAfter(headers, context.startedAt, 1), cause());
  if (status === 408) return upstreamTimeout(cause());
  if (status === 400 || status === 404 || status === 413 || status === 422) {
    if (isContextLength(said)) return contextLengthExceeded(error, context, cause());
    if (isOurCredentials(error)) return refusedByUpstream(cause);
    if (isModelNotFound(status, error)) return misconfigured(cause);
    if (status !== 404 || (error.param !== null && error.param !== "model")) return rejected(error, context, cause());
  }
  return badGateway("The model did not answer. Try again.", {
    headers: status >= 500 ? retryAfter(headers, context.startedAt, undefined) : {},
    cause: status === 404 || status === 405 ? cause(undefined, wrongAddress) : cause(),
  });
}

/**
 * The same for an error inside a 200. The status is guessed from the code and the type.
 * @param usage - the usage object beside the error, if any.
 */
export function fromErrorObject(error: unknown, context: UpstreamFailureContext, usage?: unknown): GatewayError {
  return toClientError(guessStatus(error), {}, { error, usage }, context);
}

/** The most common cause of a response that no model server sent. */
const wrongAddress = " Check the provider's base URL: it ends before /chat/completions, most often in /v1.";

type ToCause = (who?: string, advice?: string, refusesKey?: boolean | "unsure") => UpstreamStatusError;

/** The gateway's key, balance or quota was refused. A retry by the client does not help. */
function refusedByUpstream(cause: ToCause, refusesKey: true | "unsure" = true): GatewayError {
  return badGateway("The model is not available at the moment.", {
    headers: { "x-should-retry": "false" },
    cause: cause("The upstream refused the key, or its quota: it", " Check the key and its balance there.", refusesKey),
  });
}

/** Ollama and vLLM report it by the type of a 404, OpenAI by a code. */
function isModelNotFound(status: number, { code, type, message }: UpstreamErrorObject): boolean {
  if (code === "model_not_found") return true;
  return status === 404 && /^not_?found_?error$/i.test(type) && /\bmodel\b/i.test(message);
}

/** The catalog has a model that the upstream does not have. */
function misconfigured(cause: ToCause): GatewayError {
  return badGateway("The model is not available at the moment.", {
    cause: cause("The upstream does not know the model: it", " Check the name in the target's `model`.", "unsure"),
  });
}

function contextLengthExceeded(
  error: UpstreamErrorObject,
  context: UpstreamFailureContext,
  cause: UpstreamStatusError,
): GatewayError {
  const message = redact(error.message, context);
  return new GatewayError(
    /maximum context length/i.test(message)
      ? message
      : `The request exceeds the model's maximum context length. ${message}`.trim(),
    { status: 400, code: "context_length_exceeded", param: context.promptParam, cause },
  );
}

function rejected(
  error: UpstreamErrorObject,
  context: UpstreamFailureContext,
  cause: UpstreamStatusError,
): GatewayError {
  const message = redact(error.message, context);
  const moderation = moderationDetails(error.moderation, context);
  return new GatewayError(message === "" ? "The model refused the request." : message, {
    status: 400,
    code: isPlainCode(error.code, context) ? error.code : "upstream_rejected",
    param: error.param !== null && redact(error.param, context) === error.param ? error.param : null,
    cause,
    ...(moderation !== undefined && { details: { [moderationMember]: moderation } }),
  });
}

/** Whether it is an error code that contains nothing secret. */
function isPlainCode(code: string, context: UpstreamFailureContext): boolean {
  return /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(code) && redact(code, context) === code;
}

/** Reads the formats of OpenAI, Anthropic, vLLM, FastAPI and Mistral, and a bare string. */
export function readErrorObject(body: unknown): UpstreamErrorObject {
  const error = isRecord(body) ? (body["error"] ?? body) : body;
  const faults = readFaults(error);
  if (faults !== undefined) return { ...faults, type: "invalid_request_error", code: "" };
  if (!isRecord(error)) return { message: textOf(error), type: "", code: "", param: null };
  const { message, detail, type, code, param, details } = error;
  // Anthropic's codes, which its types do not tell.
  const own = isRecord(details) ? details["error_code"] : undefined;
  return {
    message: textOf(typeof message === "string" ? message : detail),
    type: textOf(type),
    code: textOf(typeof code === "string" ? code : own),
    param: textOf(param) || null,
    moderation: error[moderationMember],
  };
}

/** As much as is looked at, of an error that may be as long as an answer. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, mostErrorText) : "";
}

/** Checks type and code only: a message may repeat the client's own words, such as the name of a function. */
function isOurCredentials({ type, code, param, message }: UpstreamErrorObject): boolean {
  if (/api[ _-]?key|authenticat/i.test(`${type} ${code}`)) return true;
  return param === null && /^\W*(incorrect|invalid|missing|expired) api[ _-]?key|api key not valid/i.test(message);
}

/** Of OpenAI, vLLM, SGLang, llama.cpp, Ollama, TGI, Mistral, Anthropic and Google, and of what stands before them. */
const contextLength = [
  /context_length_exceeded|exceed_context_size|maximum context length|context window/i,
  /(?:exceeds?|longer than) (?:the|its) (?:model's |available |maximum |allowed )*context (?:window|length|size)/i,
  /longer than the (?:model's context|maximum model) length|(?:prompt|input) is too long|exceed context limit/i,
  /exceeds the maximum number of (?:input )?tokens|`inputs` (?:tokens \+ `max_new_tokens` )?must (?:be <=|have less than)/i,
];

function isContextLength(said: string): boolean {
  return contextLength.some((pattern) => pattern.test(said));
}

/** What codes and types of errors call a fault in what the client has sent. */
const clients = new RegExp(
  "context_length|invalid_(request|prompt|image|base64)|content_(policy|filter)|policy_violation|(bio|cyber)_policy|" +
    "moderation_blocked|user_error|image_(too|file|parse)_|(unsupported|empty)_image|download_image",
  "i",
);

function guessStatus(error: unknown): number {
  if (!isRecord(error)) return 500;
  for (const name of ["status", "status_code", "code"]) {
    const value = error[name];
    const status = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
    if (Number.isInteger(status) && status >= 400 && status < 600) return status;
  }
  const read = readErrorObject({ error });
  const said = `${read.type} ${read.code}`;
  if (isOwnAccount(read)) return 402;
  if (/rate_limit|too_many|quota/i.test(said)) return 429;
  if (/authentication|permission|invalid_api_key/i.test(said)) return 401;
  return clients.test(said) ? 400 : 500;
}

/** `Retry-After` in whole seconds, rounded up, between 1 and a minute (RFC 9110, section 10.2.3). */
function retryAfter(
  headers: Readonly<Record<string, string>>,
  now: number,
  otherwise: number | undefined,
): Record<string, string> {
  const seconds = readRetryAfter(headers, now) ?? otherwise;
  if (seconds === undefined) return {};
  return { "retry-after": String(Math.min(longestWait, Math.max(1, Math.ceil(seconds)))) };
}

function toMilliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Math.max(0, Math.ceil(seconds * 1000));
}

/** The faults that a server found when it validated a request against a schema. */
interface ValidationFaults {
  message: string;
  /** The path of the first fault, with dots. */
  param: string | null;
}

/** More faults would be too long to read. */
const mostFaults = 3;

/** So much of an error's text is looked at, in characters. */
export const mostErrorText = 65_536;

/**
 * Reads FastAPI's list of faults (`{"detail":[{"loc":["body","n"],"msg":"…"}]}`), and the forms in which servers wrap
 * it. `message` is the list, contains it, or contains it as JSON text.
 *
 * @returns `undefined` when there is no such list.
 */
function readFaults(error: unknown): ValidationFaults | undefined {
  if (!isRecord(error)) return undefined;
  const list = listIn(error["detail"]) ?? listIn(error["message"]) ?? listIn(parsed(error["message"]));
  const [first] = list ?? [];
  if (list === undefined || first === undefined) return undefined;
  const message = list.slice(0, mostFaults).map(describe).join("; ").slice(0, mostErrorText);
  return { message, param: pathOf(first) };
}

interface Fault {
  loc: readonly unknown[];
  msg: string;
}

function listIn(value: unknown): Fault[] | undefined {
  const list = isRecord(value) ? value["detail"] : value;
  return Array.isArray(list) && list.length > 0 && list.every(isFault) ? list : undefined;
}

function isFault(value: unknown): value is Fault {
  return isRecord(value) && Array.isArray(value["loc"]) && typeof value["msg"] === "string";
}

function parsed(text: unknown): unknown {
  if (typeof text !== "string" || text.length > mostErrorText || !text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(fault: Fault): string {
  const path = pathOf(fault);
  return path === null ? fault.msg : `${path}: ${fault.msg}`;
}

/** `["body","messages",0,"user","name"]` becomes `messages[0].user.name`. */
function pathOf({ loc }: Fault): string | null {
  const steps = loc[0] === "body" ? loc.slice(1) : loc;
  let path = "";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else if (typeof step === "string") path += path === "" ? step : `.${step}`;
  }
  return path === "" ? null : path.slice(0, 200);
}
