import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { ReceivedAnswer } from "../../model-api/answer/received-answer.js";
import { moderationsTable } from "../../openai/tables/moderations-table.js";
import { toAnswerContext } from "../answer-context.js";
import { DocumentExchange } from "../document-exchange.js";
import { countInput, promptDemand, requireInputsFit } from "../inputs/count-inputs.js";
import { inputLayout } from "../inputs/input-layout.js";
import { jsonBodies, jsonReader } from "../json-bodies.js";
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
import { openAIProtocol } from "../protocols/openai-protocol.js";
import { requireAllowedMembers } from "../require-fit.js";
import { upstreamBody } from "../upstream-body.js";
import { toModerationAnswer } from "./moderation-answer.js";
import {
  type ModerationRequest,
  moderationNames,
  parseModerationRequest,
  parseModerationRequestInTurns,
} from "./moderation-request.js";

/** `POST /v1/moderations` */
export const moderations: Operation<"moderations"> = {
  name: "moderations",
  paths: ["/v1/moderations"],
  modelTypes: ["moderation"],
  priced: { required: [["input"], ["request"]], known: ["input", "request"] },
  protocol: openAIProtocol,
  names: moderationNames,
  table: moderationsTable,
  prompt: inputLayout,
  answers: undefined,
  ...jsonBodies(
    jsonReader(parseModerationRequest, parseModerationRequestInTurns),
    (request) => new ModerationModelRequest(request),
  ),
};

class ModerationModelRequest extends ParsedRequest<ModerationRequest> implements ModelRequest {
  get namesNoModel(): boolean {
    return this.request.namesNoModel;
  }

  demand(model: ModelTraits): Demand {
    const request = this.request;
    requireAllowedMembers(request, model, moderationsTable);
    requireInputsFit(request, request.inputs, "input", model);
    const tokens = request.inputs.map((input) => countInput(request.body, input, model));
    return { ...promptDemand(tokens, model), outputTokens: 0, addedCap: undefined };
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("moderations")) return undefined;
    const dialect = target.rules.dialectFor(this.request, target.dialect, moderationsTable);
    const body = upstreamBody(this.request, { model: target.upstreamModel, dialect });
    return new ModerationExchange(this.request, body, toAnswerContext(target, model, attempt, "input"));
  }
}

class ModerationExchange extends DocumentExchange {
  readonly operation = "moderations";
  readonly #request: ModerationRequest;

  constructor(request: ModerationRequest, body: Uint8Array, context: AnswerContext) {
    super(body, context);
    this.#request = request;
  }

  read(received: ReceivedAnswer) {
    return toModerationAnswer(received, this.#request, this.context);
  }
}
