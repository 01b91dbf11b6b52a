import { ThoughtSeal } from "../../seal/payload-seal.js";
import { isRecord } from "../../wire/is-record.js";
import { bySize } from "../../wire/slices.js";
import { contextLengthExceeded } from "../shared/context-fit.js";
import { demandOf, requireAllowedMembers } from "../shared/demand.js";
import { calledName } from "../shared/exchange.js";
import { textPrices } from "../shared/model-type.js";
import { openAIProtocol } from "../shared/openai-protocol.js";
import type {
  AttemptFacts,
  CountedRequest,
  Demand,
  LoadRoom,
  ModelRequest,
  ModelTraits,
  Operation,
  OperationServices,
  RequestFacts,
  SealOfTarget,
  TargetTraits,
} from "../shared/operation.js";
import { asksForMuch, jsonBodies, ParsedRequest } from "../shared/parsed-request.js";
import {
  besidePrompt,
  conversationMember,
  never,
  type PromptLayout,
  type PromptMember,
  schemaMember,
  settings,
  systemMember,
} from "../shared/prompt-layout.js";
import {
  frameNamedEvents,
  type ReadResponse,
  type ResponseFormat,
  type ResponseJson,
  type ResponseText,
} from "../shared/response-format.js";
import { responseTexts, StreamedItemTexts } from "../shared/response-texts.js";
import { KeptConversation } from "./kept-conversation.js";
import { ownItemId } from "./own-items.js";
import { responseToEvents } from "./response-to-events.js";
import { hostedToolsToDrop, refuseMissingInResponse, responseAsksToReason } from "./responses-capabilities.js";
import { NativeResponsesExchange, translatedResponses } from "./responses-exchange.js";
import { isInputTooLong, responsesPromptTokens } from "./responses-prompt-tokens.js";
import { parseResponsesRequest, type ResponsesRequest, responsesNames } from "./responses-request.js";
import { responsesTable } from "./responses-table.js";

/** `POST /v1/responses`: items that are no messages are a model's own, or results of its tools. */
export const responsesLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings,
    ["input", conversationMember],
    ["instructions", systemMember],
    ["tools", schemaMember],
    ["text", schemaMember],
    ["prompt", { rule: "prompt", role: "user" }],
    ["context_management", systemMember],
  ]),
  roleOf: (role, type) => {
    if (type === undefined || type === "message") return role ?? "user";
    return type.endsWith("_output") ? "tool" : "assistant";
  },
  isToolResult: never,
};

/** What a refused response keeps: what it repeats of its request, and what it counts. */
const kept = [
  ...["id", "created_at", "model", "previous_response_id", "store", "usage", "background", "truncation"],
  ...["service_tier", "instructions", "metadata", "parallel_tool_calls", "temperature", "tool_choice", "tools"],
  ...["top_p", "top_logprobs", "max_output_tokens", "max_tool_calls", "prompt_cache_key", "safety_identifier"],
  ...["reasoning", "text", "user"],
];

/** `POST /v1/responses` */
export const responsesAnswers: ResponseFormat = {
  readWhole: (json) => toReadResponse(json, outputTexts(json)),
  readStream(events) {
    let json: ResponseJson = {};
    const found = new StreamedItemTexts();
    for (const event of events) {
      if (isRecord(event["response"])) {
        json = event["response"];
        found.add(outputTexts(json));
      }
      found.read(event);
    }
    return toReadResponse(json, found.texts());
  },
  addedBy(event) {
    const { type, delta, item, output_index: index } = event;
    if (delta !== undefined) {
      const found = new StreamedItemTexts();
      found.read(event);
      return found.texts();
    }
    // All else repeats as a whole what deltas bring, but for the name of a tool.
    const isBegun = type === "response.output_item.added" && isRecord(item) && typeof item["name"] === "string";
    return isBegun ? responseTexts({ name: item["name"] }, `output[${Number(index)}]`) : [];
  },
  refused(json, words) {
    const own: Record<string, unknown> = {};
    for (const name of kept) if (json[name] !== undefined) own[name] = json[name];
    const id = ownItemId("msg", String(json["id"]), 0);
    const content = [{ type: "refusal", refusal: words }];
    return {
      ...own,
      object: "response",
      status: "incomplete",
      completed_at: null,
      error: null,
      incomplete_details: { reason: "content_filter" },
      output: [{ id, type: "message", status: "incomplete", role: "assistant", content }],
    };
  },
  toStream: (refused) => frameNamedEvents(responseToEvents(refused)),
};

function outputTexts({ output }: ResponseJson): ResponseText[] {
  return Array.isArray(output) ? output.flatMap((item, at) => responseTexts(item, `output[${at}]`)) : [];
}

function toReadResponse(json: ResponseJson, texts: readonly ResponseText[]): ReadResponse {
  const { status, incomplete_details: details } = json;
  const reason = (isRecord(details) ? details["reason"] : undefined) ?? status;
  return { texts, finishReasons: typeof reason === "string" ? [reason] : [], json };
}

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
  ...jsonBodies(parseResponsesRequest, toModelRequest),
};

function toModelRequest(own: ResponsesRequest, services: OperationServices, { account }: RequestFacts): ModelRequest {
  const sealOf = (origin: string) => new ThoughtSeal(services.seal, account, origin);
  const conversation = new KeptConversation(own, services.responses, account);
  if (!conversation.refers) return new ResponsesModelRequest(own, conversation, sealOf);
  return new ResponsesModelRequest(own, conversation, sealOf, async (room) => {
    const expanded = await conversation.expand(room, services.maxBodyBytes);
    return new ResponsesModelRequest(
      await bySize(expanded.length, parseResponsesRequest(expanded, services.maxBodyDepth)),
      conversation,
      sealOf,
    );
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
    const { contextLength, tokenizer, missing } = model;
    requireAllowedMembers(request, model, responsesTable);
    if (missing !== undefined) refuseMissingInResponse(request, calledName(model), missing);
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

/**
 * Reads a request of `POST /v1/responses/input_tokens`. What it refers to is loaded once its account may use the model.
 * @throws GatewayError 400
 */
export async function countInputTokens(
  body: Uint8Array,
  services: OperationServices,
  facts: RequestFacts,
): Promise<CountedRequest> {
  const request = await responses.parse(body, services, facts);
  return {
    model: request.model,
    async count(model, room: LoadRoom) {
      const whole = (await request.complete?.(room)) ?? request;
      const { heldPromptTokens } = whole.demand(model, undefined);
      return JSON.stringify({
        object: "response.input_tokens",
        input_tokens: Math.max(1, Math.ceil(heldPromptTokens)),
      });
    },
  };
}
