import type { ChatRequest } from "../../openai/chat/chat-request.js";
import { customNames } from "../../translate/chat/messages-tools.js";
import { fewValuesSteps } from "../../translate/few-values.js";
import { requestValue } from "../../translate/messages/request-elements.js";
import { bySize, type Steps } from "../../wire/slices.js";
import { toAnswerContext } from "../answer-context.js";
import type { AttemptFacts, ExchangeFacts, ModelTraits, TargetTraits } from "../operation.js";
import { ChatClientSink } from "../translated/chat-client-sink.js";
import { CustomCallsSink } from "../translated/custom-calls-sink.js";
import { toMessagesTarget } from "../translated/to-messages-target.js";
import { TranslatedExchange } from "../translated/translated-exchange.js";

/** A request for a chat completion, and the message of a server that speaks Anthropic's API. */
export function chatOnMessages(
  request: ChatRequest,
  target: TargetTraits,
  model: ModelTraits,
  attempt: AttemptFacts,
): TranslatedExchange | Promise<TranslatedExchange> {
  return bySize(request.body.length, exchangeSteps(request, { target, model, attempt }));
}

function* exchangeSteps(request: ChatRequest, facts: ExchangeFacts): Steps<TranslatedExchange> {
  const { target, model, attempt } = facts;
  yield* fewValuesSteps(request, "messages");
  const context = toAnswerContext(target, model, attempt, "messages");
  const source = yield* toMessagesTarget(request, facts, context);
  const sink = new ChatClientSink(context, request.includeUsage);
  const custom = customNames(requestValue(request, "tools"));
  return new TranslatedExchange(source, custom.size === 0 ? sink : new CustomCallsSink(sink, custom), attempt);
}
