import { Buffer } from "node:buffer";
import { ownId } from "../../openai/answer-context.js";
import { toResponseContext } from "../../translate/responses/response-context.js";
import { toChatRequest } from "../../translate/responses-to-chat-request.js";
import { toAnswerContext } from "../answer-context.js";
import { originOf } from "../translated/origin-of.js";
import { parseTranslated } from "../translated/parse-translated.js";
import { ResponsesClientSink } from "../translated/responses-client-sink.js";
import { toChatTarget } from "../translated/to-chat-target.js";
import { toMessagesTarget } from "../translated/to-messages-target.js";
import { TranslatedExchange } from "../translated/translated-exchange.js";
import type { ResponsesExchangeParts } from "./responses-exchange-parts.js";

/** A request for a response, and what a server that does not speak that API gives for it. */
export function translatedResponses(parts: ResponsesExchangeParts): TranslatedExchange {
  const { request, conversation, sealOf, target, model, attempt } = parts;
  const thoughts = sealOf(originOf(target, model));
  const { body, names } = toChatRequest(request, { thoughts, reasoning: model.reasons });
  const context = toResponseContext(request, {
    responseId: ownId("resp", attempt),
    model: model.id,
    createdAt: Math.floor(attempt.admittedAt / 1000),
    previousResponseId: conversation.previousResponseId,
    isStored: conversation.isStored,
    names,
    thoughts,
  });
  const answer = toAnswerContext(target, model, attempt, "input");
  const chat = parseTranslated(Buffer.from(JSON.stringify(body)));
  const toTarget = target.operations.has("chat/completions") ? toChatTarget : toMessagesTarget;
  const sink = new ResponsesClientSink(context, conversation, attempt.clock);
  return new TranslatedExchange(toTarget(chat, parts, answer), sink, attempt);
}
