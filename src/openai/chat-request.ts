import { Buffer, isUtf8 } from "node:buffer";
import type { Dialect } from "./dialect.js";
import { GatewayError, invalidJson, invalidType, invalidValue, missingParameter } from "./errors.js";
import {
  absent,
  editMembers,
  elementsOf,
  findValue,
  type JsonMember,
  type Leaps,
  type MemberEdits,
  membersOf,
  noLeaps,
  splice,
  unclear,
  valueAt,
} from "./json-members.js";
import { pathAt } from "./json-path.js";
import { findJsonFault, type JsonFault, longValue } from "./json-syntax.js";
import { addLackingEdits, type Lacking } from "./lacking.js";
import { addDialectEdits, addMessageEdits, messageRules } from "./request-edits.js";
import { beginsWithImage, countPromptTokens, estimatePromptTokens } from "./token-estimate.js";
import type { Tokenizer } from "./tokenizer.js";
import { isRecord } from "./usage.js";

/** What the gateway itself reads of a chat completion request (OpenAI reference, "Create chat completion"). */
export interface ChatRequest {
  /** The text as the client sent it. */
  readonly body: Uint8Array;
  readonly members: readonly JsonMember[];
  /** The ends of its long values, by their starts. */
  readonly leaps: Leaps;
  readonly model: string;
  readonly stream: boolean;
  /** The client asked for the usage chunk of a stream. */
  readonly includeUsage: boolean;
  readonly maxTokens: number | undefined;
  readonly maxCompletionTokens: number | undefined;
  /** How many answers were asked for. */
  readonly n: number;
  /** A long string begins as an inline image does. */
  readonly mayHoldImages: boolean;
}

const mostAnswers = 128;

/** Far beyond any API, and far below what would fill the memory. */
const mostMembers = 1000;

/**
 * Checks what the gateway itself relies on; every other member goes to the upstream as it is, known or not.
 * @throws GatewayError 400
 */
export function parseChatRequest(bytes: Uint8Array, maxDepth: number): ChatRequest {
  const body = withoutByteOrderMark(bytes);
  if (body.length === 0) throw invalidJson("The request body is empty. Send a JSON object.");
  if (!isUtf8(body)) throw invalidJson("The request body is not valid UTF-8.");
  const noted = body.length < longValue ? undefined : new Map<number, number>();
  const fault = findJsonFault(body, maxDepth, noted);
  const leaps = noted ?? noLeaps;
  if (fault !== undefined) throw faultError(body, fault, maxDepth);
  const members = membersOf(body, 0, mostMembers, leaps);
  if (members.length > mostMembers) throw invalidValue(null, `The request has more than ${mostMembers} members.`);
  checkNames(members);
  const read = (name: string): unknown => {
    const member = memberOf(members, name);
    return member === undefined ? undefined : (valueAt(body, member) ?? undefined);
  };
  const model = read("model");
  if (model === undefined) throw missingParameter("model");
  if (typeof model !== "string") throw invalidType("model", "a string");
  if (model === "") throw invalidValue("model", "'model' must not be empty.");
  checkMessages(body, memberOf(members, "messages"), leaps);
  const stream = read("stream");
  if (stream !== undefined && typeof stream !== "boolean") throw invalidType("stream", "a boolean");
  return {
    body,
    members,
    leaps,
    model,
    stream: stream === true,
    includeUsage: readIncludeUsage(read("stream_options")),
    maxTokens: readCount("max_tokens", read("max_tokens")),
    maxCompletionTokens: readCount("max_completion_tokens", read("max_completion_tokens")),
    n: readCount("n", read("n"), mostAnswers) ?? 1,
    mayHoldImages: hasImage(body, leaps),
  };
}

/** Upper bound on the tokens of one answer, as far as the request bounds it. */
export function requestedOutputTokens(request: ChatRequest): number | undefined {
  const { maxTokens, maxCompletionTokens } = request;
  if (maxTokens === undefined) return maxCompletionTokens;
  return Math.max(maxTokens, maxCompletionTokens ?? 0);
}

/** An estimate of the prompt; a model reads no more than `contextLength`. */
export function promptTokens(request: ChatRequest, contextLength: number, tokenizer?: Tokenizer): number {
  const { body, mayHoldImages } = request;
  const tokens =
    tokenizer === undefined
      ? estimatePromptTokens(body, mayHoldImages)
      : countPromptTokens(body, mayHoldImages, tokenizer, contextLength);
  return Math.min(tokens, contextLength);
}

/**
 * The request for the upstream: the model under its name there, output caps cut down to what the model can do, usage
 * asked for on streams, what the server's dialect asks for, and nothing that the model lacks. Everything else stays byte for byte.
 */
export function toUpstreamBody(
  request: ChatRequest,
  target: {
    model: string;
    maxOutputTokens: number | undefined;
    dialect?: Dialect | undefined;
    lacking?: Lacking | undefined;
  },
): Uint8Array {
  const { body, members, stream, includeUsage } = request;
  const { model, maxOutputTokens = Number.POSITIVE_INFINITY, dialect, lacking } = target;
  const cutsTokens = (request.maxTokens ?? 0) > maxOutputTokens;
  const cutsCompletionTokens = (request.maxCompletionTokens ?? 0) > maxOutputTokens;
  const keepsOptions = stream ? includeUsage : memberOf(members, "stream_options") === undefined;
  const isPlain = keepsOptions && !cutsTokens && !cutsCompletionTokens;
  if (isPlain && dialect === undefined && lacking === undefined) {
    const { start, end } = memberOf(members, "model") as JsonMember;
    return splice(body, start, end, JSON.stringify(model));
  }
  const edits: MemberEdits = new Map();
  edits.set("model", JSON.stringify(model));
  if (cutsTokens) edits.set("max_tokens", String(maxOutputTokens));
  if (cutsCompletionTokens) edits.set("max_completion_tokens", String(maxOutputTokens));
  if (!keepsOptions) edits.set("stream_options", stream ? withUsage(request) : null);
  if (dialect !== undefined) addDialectEdits(request, dialect, edits);
  if (lacking !== undefined) addLackingEdits(lacking, edits);
  const rules = messageRules(dialect, lacking?.action === "drop" && lacking.vision);
  if (rules !== undefined) addMessageEdits(request, rules, edits);
  return editMembers(body, members, edits);
}

/** Short images count as the text that they are. */
function hasImage(body: Uint8Array, leaps: Leaps): boolean {
  for (const start of leaps.keys()) if (beginsWithImage(body, start + 1)) return true;
  return false;
}

function memberOf(members: readonly JsonMember[], name: string): JsonMember | undefined {
  for (const member of members) if (member.name === name) return member;
  return undefined;
}

/** So many names are compared with each other faster than they are put into a set. */
const fewMembers = 24;

function checkNames(members: readonly JsonMember[]): void {
  const seen = members.length > fewMembers ? new Set<string>() : undefined;
  for (const member of members) {
    const { name, escaped } = member;
    if (escaped) throw invalidJson("Member names at the top level must be written without escapes.");
    const isNew = seen === undefined ? memberOf(members, name) === member : !seen.has(name);
    if (!isNew) {
      throw new GatewayError("The member appears twice.", {
        status: 400,
        code: "invalid_json",
        param: name.slice(0, 200),
      });
    }
    seen?.add(name);
  }
}

function withUsage(request: ChatRequest): string {
  const member = memberOf(request.members, "stream_options");
  const options = member === undefined ? null : valueAt(request.body, member);
  return JSON.stringify({ ...(isRecord(options) ? options : undefined), include_usage: true });
}

function checkMessages(body: Uint8Array, member: JsonMember | undefined, leaps: Leaps): void {
  if (member === undefined || body[member.start] === 0x6e) throw missingParameter("messages");
  if (body[member.start] !== 0x5b) throw invalidType("messages", "an array of objects");
  const elements = elementsOf(body, member.start, leaps);
  if (elements.length === 0) {
    throw new GatewayError("'messages' must hold at least one message.", {
      status: 400,
      code: "empty_array",
      param: "messages",
    });
  }
  for (const [index, start] of elements.entries()) {
    if (body[start] !== 0x7b) throw invalidType(`messages[${index}]`, "an object");
    const role = findRole(body, start, index, leaps);
    if (role === absent) throw missingParameter(`messages[${index}].role`);
    if (body[role] !== 0x22) throw invalidType(`messages[${index}].role`, "a string");
  }
}

const roleName = Buffer.from("role");

function findRole(body: Uint8Array, message: number, index: number, leaps: Leaps): number {
  const role = findValue(body, message, roleName, mostMembers, leaps);
  if (role !== unclear) return role;
  const members = membersOf(body, message, mostMembers, leaps);
  if (members.length > mostMembers) {
    throw invalidValue(`messages[${index}]`, `A message has more than ${mostMembers} members.`);
  }
  return memberOf(members, "role")?.start ?? absent;
}

function readIncludeUsage(options: unknown): boolean {
  if (options === undefined) return false;
  if (!isRecord(options)) throw invalidType("stream_options", "an object");
  const asked = options["include_usage"] ?? false;
  if (typeof asked !== "boolean") throw invalidType("stream_options.include_usage", "a boolean");
  return asked;
}

function readCount(name: string, value: unknown, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw invalidType(name, "an integer");
  if (!Number.isInteger(value)) throw invalidType(name, "an integer");
  if (value < 1) throw invalidValue(name, `'${name}' must be at least 1.`);
  if (value > most) throw invalidValue(name, `'${name}' must be at most ${most}.`);
  return value;
}

function withoutByteOrderMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function faultError(body: Uint8Array, fault: JsonFault, maxDepth: number): GatewayError {
  const param = pathAt(body, fault.at);
  switch (fault.reason) {
    case "not_object":
      return invalidJson("The request body must be a JSON object.");
    case "too_deep":
      return invalidValue(param, `The request body is nested more than ${maxDepth} levels deep.`);
    case "not_finite":
      return invalidValue(param, "The number is too large.");
    case "prototype_key":
      return invalidValue(param, "A member must not be named '__proto__'.");
    default:
      return invalidJson(`The request body is not valid JSON: unexpected ${found(body, fault.at)}.`);
  }
}

function found(body: Uint8Array, at: number): string {
  return at >= body.length ? "end of the text" : `character at byte ${at}`;
}
