import type { ModelResponse } from "../../prices/progress.js";
import { isRecord } from "../../wire/is-record.js";
import { requireAllowedMembers } from "../shared/demand.js";
import { type AttemptContext, bareCallId, DocumentExchange, toAttemptContext } from "../shared/exchange.js";
import { inputsDemand } from "../shared/inputs.js";
import { openAIProtocol } from "../shared/openai-protocol.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
} from "../shared/operation.js";
import { jsonBodies, ParsedRequest, upstreamBody } from "../shared/parsed-request.js";
import { inputLayout } from "../shared/prompt-layout.js";
import { editResponse, type ReceivedResponse, ResponseEdits } from "../shared/received-response.js";
import { readPromptUsage, visibleUsage } from "../shared/usage-object.js";
import { findReport } from "../shared/usage-report.js";
import {
  type ModerationRequest,
  moderationNames,
  moderationsTable,
  parseModerationRequest,
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
  ...jsonBodies(parseModerationRequest, (request) => new ModerationModelRequest(request)),
};

class ModerationModelRequest extends ParsedRequest<ModerationRequest> implements ModelRequest {
  get namesNoModel(): boolean {
    return this.request.namesNoModel;
  }

  demand(model: ModelTraits): Demand {
    requireAllowedMembers(this.request, model, moderationsTable);
    return inputsDemand(this.request, model);
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("moderations")) return undefined;
    const dialect = target.rules.dialectFor(this.request, target.dialect, moderationsTable);
    const body = upstreamBody(this.request, { model: target.upstreamModel, dialect });
    return new ModerationExchange(this.request, body, toAttemptContext(target, model, attempt, "input"));
  }
}

class ModerationExchange extends DocumentExchange {
  readonly operation = "moderations";
  readonly #request: ModerationRequest;

  constructor(request: ModerationRequest, body: Uint8Array, context: AttemptContext) {
    super(body, context);
    this.#request = request;
  }

  read(received: ReceivedResponse) {
    return toModerationResponse(received, this.#request, this.context);
  }
}

/**
 * Turns an upstream's moderation into the client's: an id, and the model as the client knows it. Everything else stays
 * byte for byte. No server is known that reports usage: the prompt is charged as it was counted. Where one does, its client
 * sees what is charged.
 *
 * @returns `undefined` when it does not have a result for each text.
 */
function toModerationResponse(
  received: ReceivedResponse,
  { inputs, results: least }: ModerationRequest,
  context: AttemptContext,
): ModelResponse | undefined {
  const { json } = received;
  if (!isRecord(json)) return undefined;
  const { id, model, results } = json;
  if (!Array.isArray(results) || results.length < least || results.length > inputs.length) return undefined;
  if (!results.every(isResult)) return undefined;
  const responseId = typeof id === "string" && id !== "" ? id : `modr-${bareCallId(context)}`;
  const edits = new ResponseEdits();
  if (responseId !== id) edits.set("id", JSON.stringify(responseId));
  if (model !== context.model) edits.set("model", JSON.stringify(context.model));
  if (json["error"] === null) edits.set("error", null);
  const reported = readPromptUsage(findReport(json));
  const usage = visibleUsage(json["usage"], context.dialect);
  const input = reported?.input ?? context.promptTokens;
  if (reported === undefined && isRecord(usage)) {
    edits.set("usage", JSON.stringify({ ...usage, prompt_tokens: input, total_tokens: input }));
  } else if (usage !== json["usage"]) {
    edits.set("usage", JSON.stringify(usage));
  }
  return {
    body: editResponse(received, edits),
    tokens: reported ?? { input, cachedInput: 0, output: 0, reasoning: 0 },
    estimated: reported === undefined,
    responseId,
    finishReason: undefined,
  };
}

/** What every client reads. */
function isResult(result: unknown): boolean {
  return (
    isRecord(result) &&
    typeof result["flagged"] === "boolean" &&
    isRecord(result["categories"]) &&
    isRecord(result["category_scores"])
  );
}
