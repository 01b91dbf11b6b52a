import { toChatAnswer } from "../openai/chat-answer.js";
import {
  type ChatRequest,
  parseChatRequest,
  parseChatRequestInTurns,
  requestedOutputTokens,
  toUpstreamBody,
} from "../openai/chat-request.js";
import { asksToReason, refuseLacking } from "../openai/lacking.js";
import { countedTokens, leastTokens } from "../openai/least-tokens.js";
import { promptTokens } from "../openai/prompt-tokens.js";
import { sliceBytes } from "../openai/slices.js";
import { estimateTokens } from "../openai/token-estimate.js";
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
