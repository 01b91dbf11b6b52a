import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { readErrorBody } from "../../model-api/failure/read-error-body.js";
import { promptTokens } from "../../model-api/prompt/prompt-tokens.js";
import { asksForMuch } from "../../model-api/request/asks-for-much.js";
import { asksToReason, refuseLacking } from "../../openai/chat/capabilities.js";
import { toChatAnswer } from "../../openai/chat/chat-answer.js";
import { ChatCodec } from "../../openai/chat/chat-codec.js";
import {
  type ChatRequest,
  chatNames,
  parseChatRequest,
  parseChatRequestInTurns,
  requestedOutputTokens,
} from "../../openai/chat/chat-request.js";
import { encodeChatRequest } from "../../openai/chat/encode-chat-request.js";
import { refuseWhole } from "../../openai/read-whole.js";
import { chatTable } from "../../openai/tables/chat-table.js";
import type { Edited } from "../../wire/edited-bytes.js";
import { toAnswerContext, toFailureContext } from "../answer-context.js";
import { calledName } from "../called-name.js";
import { demandOf } from "../demand-of.js";
import { jsonBodies, jsonReader } from "../json-bodies.js";
import { mostOutputTokens } from "../most-output-tokens.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
} from "../operation.js";
import { ParsedRequest } from "../parsed-request.js";
import { textPrices } from "../price-terms.js";
import { openAIProtocol } from "../protocols/openai-protocol.js";
import { requireAllowedMembers, requireMessagesFit } from "../require-fit.js";
import { SameProtocolExchange } from "../same-protocol-exchange.js";
import { chatAnswers } from "./chat-answers.js";
import { chatLayout } from "./chat-layout.js";
import { chatOnMessages } from "./chat-on-messages.js";

/** `POST /v1/chat/completions` */
export const chatCompletions: Operation<"chat/completions"> = {
  name: "chat/completions",
  paths: ["/v1/chat/completions"],
  modelTypes: ["chat"],
  priced: textPrices,
  protocol: openAIProtocol,
  names: chatNames,
  table: chatTable,
  prompt: chatLayout,
  answers: chatAnswers,
  ...jsonBodies(jsonReader(parseChatRequest, parseChatRequestInTurns), (request) => new ChatModelRequest(request)),
};

class ChatModelRequest extends ParsedRequest<ChatRequest> implements ModelRequest {
  get asksForMuch(): boolean {
    return asksForMuch(this.request);
  }

  demand(model: ModelTraits, defaultOutputTokens: number | undefined): Demand {
    const request = this.request;
    requireAllowedMembers(request, model, chatTable);
    if (model.lacking !== undefined) refuseLacking(request, calledName(model), model.lacking);
    requireMessagesFit(request, model);
    const { namesOtherCap, n: answers } = request;
    const outputCap = requestedOutputTokens(request);
    const asked = { request, countPrompt: promptTokens, outputCap, namesOtherCap, answers };
    return demandOf(asked, defaultOutputTokens, model);
  }

  override asksToReason(): boolean {
    return asksToReason(this.request);
  }

  exchangeWith(
    target: TargetTraits,
    model: ModelTraits,
    attempt: AttemptFacts,
  ): ReturnType<ModelRequest["exchangeWith"]> {
    const request = this.request;
    const { operations } = target;
    if (!operations.has("chat/completions")) {
      return operations.has("messages") ? chatOnMessages(request, target, model, attempt) : undefined;
    }
    const body = encodeChatRequest(request, {
      model: target.upstreamModel,
      maxOutputTokens: mostOutputTokens(model),
      addedCap: attempt.addedCap,
      dialect: target.rules.dialectFor(request, target.dialect, chatTable),
      lacking: model.lacking,
    });
    return new ChatExchange(body, request, toAnswerContext(target, model, attempt, "messages"));
  }
}

class ChatExchange extends SameProtocolExchange<AnswerContext> implements Exchange {
  readonly operation = "chat/completions";
  readonly #includeUsage: boolean;
  readonly #n: number;

  constructor(sent: Edited, { includeUsage, n }: ChatRequest, context: AnswerContext) {
    super(sent, context);
    this.#includeUsage = includeUsage;
    this.#n = n;
  }

  read(received: ReceivedAnswer) {
    return toChatAnswer(received, this.context);
  }

  refuse(received: ReceivedAnswer): never {
    return refuseWhole(received, this.context);
  }

  readStream() {
    return new ChatCodec(this.context, this.#includeUsage, this.#n);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, toFailureContext(this.context, this.body));
  }
}
