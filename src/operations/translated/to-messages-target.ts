import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { ChatRequest } from "../../openai/chat/chat-request.js";
import { toUpstreamBody } from "../../openai/chat/encode-chat-request.js";
import { messagesRequestSteps } from "../../translate/chat-to-messages-request.js";
import type { Steps } from "../../wire/slices.js";
import { mostOutputTokens, requiredOutputCap } from "../most-output-tokens.js";
import type { ExchangeFacts } from "../operation.js";
import { MessagesTargetSource } from "./messages-target-source.js";
import { translatedSteps } from "./translated-steps.js";

/** The source of a target that speaks Messages alone, for a request in the words of chat completions. */
export function* toMessagesTarget(
  chat: ChatRequest,
  { target, model: traits, attempt }: ExchangeFacts,
  context: AnswerContext,
): Steps<MessagesTargetSource> {
  const { upstreamModel: model } = target;
  const { lacking } = traits;
  const maxOutputTokens = mostOutputTokens(traits);
  const isRelieved = lacking?.action === "drop";
  const request = isRelieved ? yield* translatedSteps(toUpstreamBody(chat, { model, maxOutputTokens, lacking })) : chat;
  const requiredCap = requiredOutputCap(traits, attempt.addedCap);
  const thinking = traits.reasons ? undefined : "none";
  const body = yield* messagesRequestSteps(request, { model, maxOutputTokens, requiredCap, thinking });
  return new MessagesTargetSource(body, context);
}
