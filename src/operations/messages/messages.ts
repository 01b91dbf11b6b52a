import { forwardedHeaders } from "../../anthropic/forwarded-headers.js";
import { compactsContext } from "../../anthropic/messages/compacts-context.js";
import { hostedMessagesTool, hostedToolRefused } from "../../anthropic/messages/hosted-messages-tool.js";
import { messagesAskToReason, refuseLackingOfMessages } from "../../anthropic/messages/messages-capabilities.js";
import { messagesPromptTokens } from "../../anthropic/messages/messages-prompt-tokens.js";
import {
  type MessagesRequest,
  messagesNames,
  parseMessagesRequest,
  parseMessagesRequestInTurns,
} from "../../anthropic/messages/messages-request.js";
import { refuseThread } from "../../anthropic/messages/refuse-thread.js";
import { messagesTable } from "../../anthropic/messages-table.js";
import type { OddPlace } from "../../model-api/tables/odd-places.js";
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
import { anthropicProtocol } from "../protocols/anthropic-protocol.js";
import { requireAllowedMembers, requireMessagesFit } from "../require-fit.js";
import { messagesAnswers } from "./messages-answers.js";
import { messagesLayout } from "./messages-layout.js";
import { messagesOnChat } from "./messages-on-chat.js";
import { NativeMessagesExchange } from "./native-messages-exchange.js";

/** @throws GatewayError 400 */
export const readMessages = jsonReader(parseMessagesRequest, parseMessagesRequestInTurns);

/** `POST /v1/messages` */
export const messages: Operation<"messages"> = {
  name: "messages",
  paths: ["/v1/messages"],
  modelTypes: ["chat"],
  priced: textPrices,
  protocol: anthropicProtocol,
  names: messagesNames,
  table: messagesTable,
  prompt: messagesLayout,
  answers: messagesAnswers,
  ...jsonBodies(readMessages, (request, services, facts) => new MessagesModelRequest(request, facts, services)),
};

class MessagesModelRequest extends ParsedRequest<MessagesRequest> implements ModelRequest {
  /** The client's own that its upstream gets, too. */
  readonly #headers: Record<string, string>;
  readonly #sealOf: SealOfTarget;

  readonly #onUnknownBeta: OperationServices["onUnknownBeta"];

  constructor(request: MessagesRequest, facts: RequestFacts, services: OperationServices) {
    super(request);
    const { account } = facts;
    this.#sealOf = (origin) => new ThoughtSeal(services.seal, account, origin);
    this.#onUnknownBeta = services.onUnknownBeta;
    this.#headers = forwardedHeaders((name) => facts.header(name));
  }

  demand(model: ModelTraits, defaultOutputTokens: number | undefined): Demand {
    const request = this.request;
    requireFit(request, model);
    const { maxTokens: outputCap, namesOtherCap } = request;
    const modelCalls = compactsContext(request) ? 2 : 1;
    const asked = { request, countPrompt: messagesPromptTokens, outputCap, namesOtherCap, answers: 1, modelCalls };
    return demandOf(asked, defaultOutputTokens, model);
  }

  override asksToReason(): boolean {
    return messagesAskToReason(this.request);
  }

  exchangeWith(
    target: TargetTraits,
    model: ModelTraits,
    attempt: AttemptFacts,
  ): ReturnType<ModelRequest["exchangeWith"]> {
    const parts = { request: this.request, headers: this.#headers, sealOf: this.#sealOf, target, model, attempt };
    if (target.operations.has("messages")) return new NativeMessagesExchange(parts, this.#onUnknownBeta);
    return target.operations.has("chat/completions") ? messagesOnChat(parts) : undefined;
  }
}

/** @throws GatewayError 400 when the model could not answer the request. */
function requireFit(request: MessagesRequest, model: ModelTraits): void {
  const { lacking, rules } = model;
  refuseThread(request);
  requireAllowedMembers(request, model, messagesTable);
  const lets = (tool: OddPlace) => rules.length > 0 && rules.every((rule) => rule.lets(tool, messagesTable));
  const hosted = hostedMessagesTool(request, lets);
  if (hosted !== undefined) throw hostedToolRefused(hosted);
  if (lacking !== undefined) refuseLackingOfMessages(request, calledName(model), lacking);
  requireMessagesFit(request, model);
}
