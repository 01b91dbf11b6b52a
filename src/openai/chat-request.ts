import { Buffer } from "node:buffer";
import type { Dialect } from "./dialect.js";
import { GatewayError, invalidType, invalidValue, missingParameter } from "./errors.js";
import {
  absent,
  editMembers,
  endOfValue,
  findValue,
  type JsonMember,
  type Leaps,
  type MemberEdits,
  memberOf,
  membersOf,
  skipSpace,
  splice,
  unclear,
  valueAt,
} from "./json-members.js";
import { mostMembers, parseJsonRequest, readCount, readMember, readModel } from "./json-request.js";
import { addLackingEdits, type Lacking } from "./lacking.js";
import { addDialectEdits, addMessageEdits, messageRules } from "./request-edits.js";
import { unpooled } from "./unpooled.js";
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
}

const mostAnswers = 128;

/**
 * Checks what the gateway itself relies on; every other member goes to the upstream as it is, known or not.
 * @throws GatewayError 400
 */
export function parseChatRequest(bytes: Uint8Array, maxDepth: number): ChatRequest {
  const request = parseJsonRequest(bytes, maxDepth);
  const { body, members, leaps } = request;
  const read = (name: string): unknown => readMember(request, name);
  const model = readModel(request);
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
  };
}

/** Upper bound on the tokens of one answer, as far as the request bounds it. */
export function requestedOutputTokens(request: ChatRequest): number | undefined {
  const { maxTokens, maxCompletionTokens } = request;
  if (maxTokens === undefined) return maxCompletionTokens;
  return Math.max(maxTokens, maxCompletionTokens ?? 0);
}

/** Where a request goes. */
interface Target {
  model: string;
  maxOutputTokens: number | undefined;
  dialect?: Dialect | undefined;
  lacking?: Lacking | undefined;
}

/**
 * The request for the upstream: the model under its name there, output caps cut down to what the model can do, usage
 * asked for on streams, what the server's dialect asks for, and nothing that the model lacks. Everything else stays byte for byte.
 */
export function toUpstreamBody(request: ChatRequest, target: Target): Uint8Array {
  const body = editedBody(request, target);
  // It is kept as long as the answer takes.
  return request.stream ? unpooled(body) : body;
}

function editedBody(request: ChatRequest, target: Target): Buffer {
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

function withUsage(request: ChatRequest): string {
  const member = memberOf(request.members, "stream_options");
  const options = member === undefined ? null : valueAt(request.body, member);
  return JSON.stringify({ ...(isRecord(options) ? options : undefined), include_usage: true });
}

function checkMessages(body: Uint8Array, member: JsonMember | undefined, leaps: Leaps): void {
  if (member === undefined || body[member.start] === 0x6e) throw missingParameter("messages");
  if (body[member.start] !== 0x5b) throw invalidType("messages", "an array of objects");
  let position = skipSpace(body, member.start + 1);
  if (body[position] === 0x5d) {
    throw new GatewayError("'messages' must hold at least one message.", {
      status: 400,
      code: "empty_array",
      param: "messages",
    });
  }
  for (let index = 0; ; index++) {
    position = skipSpace(body, checkMessage(body, position, index, leaps));
    if (body[position] !== 0x2c) return;
    position = skipSpace(body, position + 1);
  }
}

const roleName = Buffer.from("role");

/** @returns the offset behind the message. */
function checkMessage(body: Uint8Array, start: number, index: number, leaps: Leaps): number {
  if (body[start] !== 0x7b) throw invalidType(`messages[${index}]`, "an object");
  let { value: role, end } = findValue(body, start, roleName, mostMembers, leaps);
  if (role === unclear) {
    const members = membersOf(body, start, mostMembers, leaps);
    if (members.length > mostMembers) {
      throw invalidValue(`messages[${index}]`, `A message has more than ${mostMembers} members.`);
    }
    role = memberOf(members, "role")?.start ?? absent;
    end = endOfValue(body, start, leaps);
  }
  if (role === absent) throw missingParameter(`messages[${index}].role`);
  if (body[role] !== 0x22) throw invalidType(`messages[${index}].role`, "a string");
  return end;
}

function readIncludeUsage(options: unknown): boolean {
  if (options === undefined) return false;
  if (!isRecord(options)) throw invalidType("stream_options", "an object");
  const asked = options["include_usage"] ?? false;
  if (typeof asked !== "boolean") throw invalidType("stream_options.include_usage", "a boolean");
  return asked;
}
