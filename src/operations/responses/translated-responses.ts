import { ownId } from "../../model-api/answer/answer-context.js";
import type { ResponsesRequest } from "../../openai/responses/responses-request.js";
import { toResponseContext } from "../../translate/responses/response-context.js";
import type { ToolNames } from "../../translate/responses/tool-names.js";
import { chatTranslationSteps, type ToChatOptions } from "../../translate/responses-to-chat-request.js";
import { jsonSteps } from "../../wire/sliced/json-steps.js";
import { bySize, type Steps } from "../../wire/slices.js";
import { toAnswerContext } from "../answer-context.js";
import { calledName } from "../called-name.js";
import { originOf } from "../translated/origin-of.js";
import { ResponsesClientSink } from "../translated/responses-client-sink.js";
import { toChatTarget } from "../translated/to-chat-target.js";
import { toMessagesTarget } from "../translated/to-messages-target.js";
import { TranslatedExchange } from "../translated/translated-exchange.js";
import { translatedSteps } from "../translated/translated-steps.js";
import type { ResponsesExchangeParts } from "./responses-exchange-parts.js";

/** A request for a response, and what a server that does not speak that API gives for it. */
export function translatedResponses(parts: ResponsesExchangeParts): TranslatedExchange | Promise<TranslatedExchange> {
  return bySize(parts.request.body.length, exchangeSteps(parts));
}

function* exchangeSteps(parts: ResponsesExchangeParts): Steps<TranslatedExchange> {
  const { request, conversation, sealOf, target, model, attempt } = parts;
  const thoughts = sealOf(originOf(target, model));
  const { bytes, names } = yield* chatOf(request, { thoughts, reasoning: model.reasons });
  const context = toResponseContext(request, {
    responseId: ownId("resp", attempt),
    model: calledName(model),
    createdAt: Math.floor(attempt.admittedAt / 1000),
    previousResponseId: conversation.previousResponseId,
    isStored: conversation.isStored,
    names,
    thoughts,
  });
  const answer = toAnswerContext(target, model, attempt, "input");
  const chat = yield* translatedSteps(bytes);
  const toTarget = target.operations.has("chat/completions") ? toChatTarget : toMessagesTarget;
  const sink = new ResponsesClientSink(context, conversation, attempt.clock);
  return new TranslatedExchange(yield* toTarget(chat, parts, answer), sink, attempt);
}

/** By itself, so that the values of the request are not held while its bytes are read. */
function* chatOf(request: ResponsesRequest, options: ToChatOptions): Steps<{ bytes: Uint8Array; names: ToolNames }> {
  const { body, names } = yield* chatTranslationSteps(request, options);
  return { bytes: yield* jsonSteps(body, request.body.length), names };
}
