import { asksToReason, refuseLacking } from "../openai/chat/capabilities.js";
import { toChatAnswer } from "../openai/chat/chat-answer.js";
import {
  type ChatRequest,
  parseChatRequest,
  parseChatRequestInTurns,
  requestedOutputTokens,
} from "../openai/chat/chat-request.js";
import { toUpstreamBody } from "../openai/chat/encode-chat-request.js";
import { countedTokens, leastTokens } from "../openai/chat/least-tokens.js";
import { promptTokens } from "../openai/chat/prompt-tokens.js";
import { estimateTokens } from "../openai/media/token-estimate.js";
import { sliceBytes } from "../wire/slices.js";
import type { ModelEndpoint } from "./model-endpoint.js";

/** `POST /v1/chat/completions` */
export const chatCompletions: ModelEndpoint<ChatRequest> = {
  path: "chat/completions",
  modelType: "chat",
  promptParam: "messages",
  parse: (body, maxDepth) => (body.length > sliceBytes ? parseChatRequestInTurns : parseChatRequest)(body, maxDepth),
  refuseLacking,
  asksToReason,
  findTooLong: (request, contextLength, tokenizer) => {
    if (leastTokens(request, contextLength) > contextLength) return "messages";
    if (tokenizer === undefined || countedTokens(request, contextLength, tokenizer) <= contextLength) return undefined;
    return "messages";
  },
  promptTokens,
  outputTokens: (request, { defaultOutputTokens, maxOutputTokens }) =>
    request.n * Math.min(requestedOutputTokens(request) ?? defaultOutputTokens, maxOutputTokens),
  toUpstreamBody,
  toAnswer: (answer, _request, context) => toChatAnswer(answer, context),
  partialTokens: (input, bytes) => ({ input, cachedInput: 0, output: estimateTokens(bytes), reasoning: 0 }),
};
