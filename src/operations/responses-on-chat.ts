import { Buffer } from "node:buffer";
import { toResponseContext } from "../translate/responses/response-context.js";
import { toChatRequest } from "../translate/responses-to-chat-request.js";
import { toAnswerContext } from "./answer-context.js";
import { ownId } from "./own-id.js";
import type { ResponsesExchangeParts } from "./responses-exchange-parts.js";
import { ResponsesClientSink } from "./translated/responses-client-sink.js";
import { toChatTarget } from "./translated/to-chat-target.js";
import { TranslatedExchange } from "./translated/translated-exchange.js";

/** A request for a response, and the chat completion of a server that does not speak that API. */
export function responsesOnChat(parts: ResponsesExchangeParts): TranslatedExchange {
  const { request, conversation, target, model, attempt } = parts;
  const source = `${model.id} ${target.upstreamModel}`;
  const { body, names } = toChatRequest(request, { source });
  const context = toResponseContext(request, {
    responseId: ownId("resp", attempt),
    model: model.id,
    createdAt: Math.floor(attempt.admittedAt / 1000),
    previousResponseId: conversation.previousResponseId,
    isStored: conversation.isStored,
    names,
    source,
  });
  const answer = toAnswerContext(target, model, attempt, "input");
  const upstream = toChatTarget(Buffer.from(JSON.stringify(body)), target, model, answer);
  const sink = new ResponsesClientSink(context, conversation, attempt.clock);
  return new TranslatedExchange(upstream, sink, attempt.promptTokens);
}
