import type { Buffer } from "node:buffer";
import { invalidType } from "../../errors/gateway-error.js";
import { unpooled } from "../../wire/copy-out-of-pool.js";
import { editMembers, type JsonMember, type MemberEdits, memberOf, splice } from "../../wire/json-members.js";
import { inTurns } from "../../wire/slices.js";
import type { Dialect } from "../dialect.js";
import {
  type JsonRequest,
  parseJsonRequest,
  parseJsonRequestInTurns,
  readCount,
  readMember,
  readModel,
} from "../request/json-request.js";
import { readIncludeUsage, withIncludeUsage } from "../request/stream-options.js";
import { addLackingEdits, type Lacking } from "./capabilities.js";
import { MessageCheck, type MessageOutline } from "./message-outline.js";
import { addDialectEdits, addMessageEdits, messageRules } from "./request-edits.js";

/** What the gateway itself reads of a chat completion request (OpenAI reference, "Create chat completion"). */
export interface ChatRequest extends JsonRequest {
  /** What is where in its messages; noted for a long one. */
  readonly outline: MessageOutline | undefined;
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
  const model = readModel(request);
  checkMessages(request, false).run(request.body.length);
  return toChatRequest(request, model, undefined);
}

/** The same in slices, for a body that would take long. */
export async function parseChatRequestInTurns(bytes: Uint8Array, maxDepth: number): Promise<ChatRequest> {
  const request = await parseJsonRequestInTurns(bytes, maxDepth);
  const model = readModel(request);
  const messages = checkMessages(request, true);
  await inTurns(messages);
  return toChatRequest(request, model, messages.outline);
}

function checkMessages(request: JsonRequest, isNoted: boolean): MessageCheck {
  return new MessageCheck(request.body, memberOf(request.members, "messages"), request.leaps, isNoted);
}

function toChatRequest(request: JsonRequest, model: string, outline: MessageOutline | undefined): ChatRequest {
  const { body, members, leaps, strangers } = request;
  const stream = readMember(request, "stream");
  if (stream !== undefined && typeof stream !== "boolean") throw invalidType("stream", "a boolean");
  return {
    body,
    members,
    leaps,
    strangers,
    outline,
    model,
    stream: stream === true,
    includeUsage: readIncludeUsage(request),
    maxTokens: readCount("max_tokens", readMember(request, "max_tokens")),
    maxCompletionTokens: readCount("max_completion_tokens", readMember(request, "max_completion_tokens")),
    n: readCount("n", readMember(request, "n"), mostAnswers) ?? 1,
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
  if (!keepsOptions) edits.set("stream_options", stream ? withIncludeUsage(request) : null);
  if (dialect !== undefined) addDialectEdits(request, dialect, edits);
  if (lacking !== undefined) addLackingEdits(lacking, edits);
  const rules = messageRules(dialect, lacking?.action === "drop" && lacking.vision);
  if (rules !== undefined) addMessageEdits(request, rules, edits);
  return editMembers(body, members, edits);
}
