import { ownId } from "../../model-api/answer/answer-context.js";
import { fewValuesSteps } from "../../translate/few-values.js";
import { chatRequestOfMessagesSteps } from "../../translate/messages-to-chat-request.js";
import { bySize, type Steps } from "../../wire/slices.js";
import { toAnswerContext } from "../answer-context.js";
import { calledName } from "../called-name.js";
import { MessagesClientSink } from "../translated/messages-client-sink.js";
import { originOf } from "../translated/origin-of.js";
import { toChatTarget } from "../translated/to-chat-target.js";
import { TranslatedExchange } from "../translated/translated-exchange.js";
import { translatedSteps } from "../translated/translated-steps.js";
import type { MessagesExchangeParts } from "./messages-exchange-parts.js";

/** A request for a message, and the chat completion of a server that does not speak that API. */
export function messagesOnChat(parts: MessagesExchangeParts): TranslatedExchange | Promise<TranslatedExchange> {
  return bySize(parts.request.body.length, exchangeSteps(parts));
}

function* exchangeSteps(parts: MessagesExchangeParts): Steps<TranslatedExchange> {
  const { request, headers, sealOf, target, model, attempt } = parts;
  yield* fewValuesSteps(request, "messages");
  const { body, translation } = yield* chatRequestOfMessagesSteps(request, {
    thoughts: sealOf(originOf(target, model)),
    reasoning: model.reasons,
  });
  const head = {
    requestId: attempt.requestId,
    messageId: ownId("msg", attempt),
    model: calledName(model),
    promptTokens: attempt.promptTokens,
    version: headers["anthropic-version"],
  };
  const sink = new MessagesClientSink(head, translation);
  const context = toAnswerContext(target, model, attempt, "messages");
  const source = yield* toChatTarget(yield* translatedSteps(body), parts, context);
  return new TranslatedExchange(source, sink, attempt);
}
