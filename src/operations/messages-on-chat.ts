import { parseChatRequest } from "../openai/chat/chat-request.js";
import { toUpstreamBody } from "../openai/chat/encode-chat-request.js";
import { messagesToChatRequest } from "../translate/messages-to-chat-request.js";
import { toAnswerContext } from "./answer-context.js";
import { type MessagesExchangeParts, messageIdOf } from "./messages-exchange-parts.js";
import { originOf } from "./origin-of.js";
import { ChatTargetSource } from "./translated/chat-target-source.js";
import { MessagesClientSink } from "./translated/messages-client-sink.js";
import { TranslatedExchange } from "./translated/translated-exchange.js";

/** Deeper than any request that the gateway itself writes. */
const mostDepth = 1000;

/** A request for a message, and the chat completion of a server that does not speak that API. */
export function messagesOnChat(parts: MessagesExchangeParts): TranslatedExchange {
  const { request, headers, target, model, attempt } = parts;
  const { upstreamModel, dialect } = target;
  const { lacking, maxOutputTokens } = model;
  const { body, translation } = messagesToChatRequest(request, {
    origin: originOf(target, model),
    reasoning: lacking === undefined || !lacking.reasoning,
    capName: dialect?.capName,
  });
  const chat = parseChatRequest(body, mostDepth);
  const context = toAnswerContext(target, model, attempt, "messages");
  const sent = toUpstreamBody(chat, {
    model: upstreamModel,
    maxOutputTokens,
    dialect: target.rules.dialectFor(chat, dialect),
    lacking,
  });
  const head = {
    requestId: attempt.requestId,
    messageId: messageIdOf(attempt),
    model: model.id,
    promptTokens: attempt.promptTokens,
    version: headers["anthropic-version"],
  };
  const sink = new MessagesClientSink(head, translation);
  return new TranslatedExchange(new ChatTargetSource(sent, context), sink, attempt.promptTokens);
}
