import { invalidType } from "../../errors/gateway-error.js";
import { inTurns } from "../../wire/slices.js";
import {
  type JsonRequest,
  parseJsonRequest,
  parseJsonRequestInTurns,
  readCount,
  readMember,
  readModel,
} from "../request/json-request.js";
import { readIncludeUsage } from "../request/stream-options.js";
import { checkMessages, type MessageOutline } from "./message-outline.js";

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
