import { invalidType, missingParameter } from "../../errors/gateway-error.js";
import { checkMessages, type MessageCheck, type MessageOutline } from "../../model-api/prompt/message-outline.js";
import { chatContent } from "../../model-api/request/content-shape.js";
import {
  type JsonRequest,
  jsonRequestSteps,
  parseJsonRequest,
  readCount,
  readMember,
  readModel,
} from "../../model-api/request/json-request.js";
import { namesOtherCap } from "../../model-api/request/other-caps.js";
import { conversationMembers, RequestNames, reasoningMembers } from "../../model-api/request/request-names.js";
import { memberOf } from "../../wire/json-members.js";
import { type Steps, slicesOf, stepInTurns } from "../../wire/slices.js";
import { readIncludeUsage } from "../stream-options.js";
import { watchChatParts } from "../tables/watch-chat-parts.js";

/** The members of a chat completion request that the gateway reads (OpenAI reference, "Create chat completion"). */
export interface ChatRequest extends JsonRequest {
  /** The positions of its messages' parts; only for a long request. */
  readonly outline: MessageOutline | undefined;
  readonly model: string;
  readonly stream: boolean;
  /** Whether the client requested the usage chunk of a stream. */
  readonly includeUsage: boolean;
  readonly maxTokens: number | undefined;
  readonly maxCompletionTokens: number | undefined;
  /** Whether some server may heed another cap of it. */
  readonly namesOtherCap: boolean;
  /** The number of choices requested. */
  readonly n: number;
}

const mostAnswers = 128;

export const chatNames = new RequestNames({ owned: conversationMembers, open: reasoningMembers });

/** The names of its output cap. */
export const chatCaps = ["max_tokens", "max_completion_tokens"] as const;

/**
 * Checks the members that the gateway reads. Every other member goes to the upstream unchanged.
 * @throws GatewayError 400
 */
export function parseChatRequest(bytes: Uint8Array, maxDepth: number): ChatRequest {
  const request = parseJsonRequest(bytes, maxDepth, chatNames);
  const model = readModel(request);
  refuseOtherBody(request);
  const messages = checkMessages(request, chatContent, false, watchChatParts);
  messages.run(request.body.length);
  return toChatRequest(request, model, messages);
}

/** The same for a large body, in slices between which other work can run. */
export function parseChatRequestInTurns(bytes: Uint8Array, maxDepth: number): Promise<ChatRequest> {
  return stepInTurns(chatRequestSteps(bytes, maxDepth));
}

/** The same as steps. */
export function* chatRequestSteps(bytes: Uint8Array, maxDepth: number): Steps<ChatRequest> {
  const request = yield* jsonRequestSteps(bytes, maxDepth, chatNames);
  const model = readModel(request);
  refuseOtherBody(request);
  const messages = checkMessages(request, chatContent, true, watchChatParts);
  yield* slicesOf(messages);
  return toChatRequest(request, model, messages);
}

/** Some clients have one address for all models, and send what they mean for the Responses API there. */
function refuseOtherBody({ members }: JsonRequest): void {
  if (memberOf(members, "messages") !== undefined || memberOf(members, "input") === undefined) return;
  throw missingParameter(
    "messages",
    "With 'input', this is a request of the Responses API: send it to /v1/responses, or let your client use chat completions.",
  );
}

function toChatRequest(request: JsonRequest, model: string, { outline, odd }: MessageCheck): ChatRequest {
  const { body, members, leaps, strangers } = request;
  const stream = readMember(request, "stream");
  if (stream !== undefined && typeof stream !== "boolean") throw invalidType("stream", "a boolean");
  return {
    body,
    members,
    leaps,
    strangers,
    odd,
    outline,
    model,
    stream: stream === true,
    includeUsage: readIncludeUsage(request),
    maxTokens: readCount("max_tokens", readMember(request, "max_tokens")),
    maxCompletionTokens: readCount("max_completion_tokens", readMember(request, "max_completion_tokens")),
    namesOtherCap: namesOtherCap(request, chatCaps),
    n: readCount("n", readMember(request, "n"), mostAnswers) ?? 1,
  };
}

/** The most tokens of one choice; `undefined` when the request sets no cap. */
export function requestedOutputTokens(request: ChatRequest): number | undefined {
  const { maxTokens, maxCompletionTokens } = request;
  if (maxTokens === undefined) return maxCompletionTokens;
  return Math.max(maxTokens, maxCompletionTokens ?? 0);
}
