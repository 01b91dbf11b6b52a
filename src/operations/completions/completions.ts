import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { readErrorBody } from "../../model-api/failure/read-error-body.js";
import { asksForMuch } from "../../model-api/request/asks-for-much.js";
import { refuseWhole } from "../../openai/read-whole.js";
import { completionsTable } from "../../openai/tables/completions-table.js";
import { toAnswerContext, toFailureContext } from "../answer-context.js";
import { addedCapOf, heldOutput } from "../demand-of.js";
import { countInput, promptDemand, requireInputsFit } from "../inputs/count-inputs.js";
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
import { requireAllowedMembers } from "../require-fit.js";
import { SameProtocolExchange } from "../same-protocol-exchange.js";
import { toCompletionAnswer } from "./completion-answer.js";
import { completionAnswers } from "./completion-answers.js";
import { AskedChoices } from "./completion-choices.js";
import { CompletionCodec } from "./completion-codec.js";
import {
  type CompletionRequest,
  completionNames,
  encodeCompletionRequest,
  parseCompletionRequest,
  parseCompletionRequestInTurns,
} from "./completion-request.js";
import { completionsLayout } from "./completions-layout.js";

/** `POST /v1/completions`. Nothing is translated into chat: its template would change what is asked. */
export const completions: Operation<"completions"> = {
  name: "completions",
  paths: ["/v1/completions"],
  modelTypes: ["completion", "chat"],
  priced: textPrices,
  protocol: openAIProtocol,
  names: completionNames,
  table: completionsTable,
  prompt: completionsLayout,
  answers: completionAnswers,
  ...jsonBodies(
    jsonReader(parseCompletionRequest, parseCompletionRequestInTurns),
    (request) => new CompletionModelRequest(request),
  ),
};

/** What OpenAI gives where no cap is named. Other servers would write to the end of the context. */
const usualTokens = 16;

class CompletionModelRequest extends ParsedRequest<CompletionRequest> implements ModelRequest {
  get asksForMuch(): boolean {
    return asksForMuch(this.request);
  }

  demand(model: ModelTraits, defaultOutputTokens: number | undefined): Demand {
    const request = this.request;
    const { body, prompts, suffix, maxTokens, namesOtherCap, bestOf } = request;
    requireAllowedMembers(request, model, completionsTable);
    requireInputsFit(request, prompts, "prompt", model);
    const behind = suffix === undefined ? 0 : countInput(body, suffix, model);
    const tokens = prompts.map((prompt) => countInput(body, prompt, model) + behind);
    // Some servers write a token where none is asked for.
    const outputCap = maxTokens === 0 ? 1 : (maxTokens ?? undefined);
    const isUsual = maxTokens === undefined && !namesOtherCap;
    // For some servers, `null` is to write without end.
    const most = maxTokens === null && !namesOtherCap ? model.maxOutputTokens : undefined;
    const addedCap = addedCapOf(outputCap, isUsual ? usualTokens : (defaultOutputTokens ?? most), model);
    const asked = { outputCap, namesOtherCap, answers: prompts.length * bestOf };
    return { ...promptDemand(tokens, model), outputTokens: heldOutput(asked, addedCap, model), addedCap };
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("completions")) return undefined;
    return new CompletionExchange(this.request, target, model, attempt);
  }
}

class CompletionExchange extends SameProtocolExchange<AnswerContext> implements Exchange {
  readonly operation = "completions";
  readonly #request: CompletionRequest;

  constructor(request: CompletionRequest, target: TargetTraits, model: ModelTraits, attempt: AttemptFacts) {
    const sent = encodeCompletionRequest(request, {
      model: target.upstreamModel,
      maxOutputTokens: mostOutputTokens(model),
      addedCap: attempt.addedCap,
      dialect: target.rules.dialectFor(request, target.dialect, completionsTable),
    });
    super(sent, toAnswerContext(target, model, attempt, "prompt"));
    this.#request = request;
  }

  read(received: ReceivedAnswer) {
    return toCompletionAnswer(received, new AskedChoices(this.#request), this.context);
  }

  refuse(received: ReceivedAnswer): never {
    return refuseWhole(received, this.context);
  }

  readStream() {
    return new CompletionCodec(this.context, new AskedChoices(this.#request), this.#request.includeUsage);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, toFailureContext(this.context, this.body));
  }
}
