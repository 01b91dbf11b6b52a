import { asksForMuch } from "../../model-api/request/asks-for-much.js";
import { isInputTooLong } from "../../openai/responses/is-input-too-long.js";
import { hostedToolsToDrop } from "../../openai/responses/native/hosted-tools.js";
import { refuseLackingInResponse, responseAsksToReason } from "../../openai/responses/responses-capabilities.js";
import { responsesNames } from "../../openai/responses/responses-members.js";
import { responsesPromptTokens } from "../../openai/responses/responses-prompt-tokens.js";
import {
  parseResponsesRequest,
  parseResponsesRequestInTurns,
  type ResponsesRequest,
} from "../../openai/responses/responses-request.js";
import { responsesTable } from "../../openai/tables/responses-table.js";
import { ThoughtSeal } from "../../seal/thought-seal.js";
import { calledName } from "../called-name.js";
import { demandOf } from "../demand-of.js";
import { jsonBodies, jsonReader } from "../json-bodies.js";
import type {
  AttemptFacts,
  Demand,
  ModelRequest,
  ModelTraits,
  Operation,
  OperationServices,
  RequestFacts,
  SealOfTarget,
  TargetTraits,
} from "../operation.js";
import { ParsedRequest } from "../parsed-request.js";
import { textPrices } from "../price-terms.js";
import { openAIProtocol } from "../protocols/openai-protocol.js";
import { contextLengthExceeded, requireAllowedMembers } from "../require-fit.js";
import { KeptConversation } from "./kept-conversation.js";
import { NativeResponsesExchange } from "./native-responses-exchange.js";
import { responsesAnswers } from "./responses-answers.js";
import { responsesLayout } from "./responses-layout.js";
import { translatedResponses } from "./translated-responses.js";

const readRequest = jsonReader(parseResponsesRequest, parseResponsesRequestInTurns);

/** `POST /v1/responses` */
export const responses: Operation<"responses"> = {
  name: "responses",
  paths: ["/v1/responses"],
  modelTypes: ["chat"],
  priced: textPrices,
  protocol: openAIProtocol,
  names: responsesNames,
  table: responsesTable,
  prompt: responsesLayout,
  answers: responsesAnswers,
  ...jsonBodies(readRequest, toModelRequest),
};

function toModelRequest(own: ResponsesRequest, services: OperationServices, { account }: RequestFacts): ModelRequest {
  const sealOf = (origin: string) => new ThoughtSeal(services.seal, account, origin);
  const conversation = new KeptConversation(own, services.responses, account);
  if (!conversation.refers) return new ResponsesModelRequest(own, conversation, sealOf);
  return new ResponsesModelRequest(own, conversation, sealOf, async (room) => {
    const expanded = await conversation.expand(room, services.maxBodyBytes);
    return new ResponsesModelRequest(await readRequest(expanded, services.maxBodyDepth), conversation, sealOf);
  });
}

/** The request has all that it refers to in its place, once it is {@link complete}. */
class ResponsesModelRequest extends ParsedRequest<ResponsesRequest> implements ModelRequest {
  readonly complete: ModelRequest["complete"];
  readonly #conversation: KeptConversation;
  readonly #sealOf: SealOfTarget;

  constructor(
    request: ResponsesRequest,
    conversation: KeptConversation,
    sealOf: SealOfTarget,
    complete?: ModelRequest["complete"],
  ) {
    super(request);
    this.#conversation = conversation;
    this.#sealOf = sealOf;
    this.complete = complete;
  }

  get asksForMuch(): boolean {
    return asksForMuch(this.request) || this.request.include.some((each) => each.includes("logprobs"));
  }

  override get comparable(): ResponsesRequest | undefined {
    const isWhole = !this.request.store && !this.#conversation.refers;
    return isWhole ? this.request : undefined;
  }

  demand(model: ModelTraits, defaultOutputTokens: number | undefined): Demand {
    const request = this.request;
    const { contextLength, tokenizer, lacking } = model;
    requireAllowedMembers(request, model, responsesTable);
    if (lacking !== undefined) refuseLackingInResponse(request, calledName(model), lacking);
    // Which tools go is each exchange's; which are refused is the same for all of them.
    const { rules } = model;
    const lets = (type: string) => rules.every((rule) => rule.passes(responsesTable, "tool", type));
    hostedToolsToDrop(request, rules.length === 0 ? undefined : lets);
    if (model.enforcesContext && isInputTooLong(request, contextLength, tokenizer)) {
      throw contextLengthExceeded(contextLength, "input");
    }
    const { maxOutputTokens: outputCap, namesOtherCap } = request;
    const asked = { request, countPrompt: responsesPromptTokens, outputCap, namesOtherCap, answers: 1 };
    return demandOf(asked, defaultOutputTokens, model);
  }

  override asksToReason(): boolean {
    return responseAsksToReason(this.request);
  }

  exchangeWith(
    target: TargetTraits,
    model: ModelTraits,
    attempt: AttemptFacts,
  ): ReturnType<ModelRequest["exchangeWith"]> {
    const { operations } = target;
    const parts = {
      request: this.request,
      conversation: this.#conversation,
      sealOf: this.#sealOf,
      target,
      model,
      attempt,
    };
    if (operations.has("responses")) return new NativeResponsesExchange(parts);
    const isReached = operations.has("chat/completions") || operations.has("messages");
    return isReached ? translatedResponses(parts) : undefined;
  }
}
