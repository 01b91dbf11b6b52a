import type { ChatRequest } from "../openai/chat/chat-request.js";
import { chatToMessagesRequest } from "../translate/chat-to-messages-request.js";
import { toAnswerContext } from "./answer-context.js";
import type { AttemptFacts, ModelTraits, TargetTraits } from "./operation.js";
import { ChatClientSink } from "./translated/chat-client-sink.js";
import { MessagesTargetSource } from "./translated/messages-target-source.js";
import { TranslatedExchange } from "./translated/translated-exchange.js";

/** A request for a chat completion, and the message of a server that speaks Anthropic's API. */
export function chatOnMessages(
  request: ChatRequest,
  target: TargetTraits,
  model: ModelTraits,
  attempt: AttemptFacts,
): TranslatedExchange {
  const { upstreamModel } = target;
  const context = toAnswerContext(target, model, attempt, "messages");
  const body = chatToMessagesRequest(request, { model: upstreamModel, maxOutputTokens: model.maxOutputTokens });
  const sink = new ChatClientSink(context, request.includeUsage);
  return new TranslatedExchange(new MessagesTargetSource(body, context), sink, attempt.promptTokens);
}
