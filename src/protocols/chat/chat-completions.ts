import type { Edited } from "../../wire/edited-bytes.js";
import { isRecord } from "../../wire/is-record.js";
import { bySize, type Steps } from "../../wire/slices.js";
import { requireMessagesFit } from "../shared/context-fit.js";
import { demandOf, mostOutputTokens, requireAllowedMembers } from "../shared/demand.js";
import { type AttemptContext, calledName, OpenAIExchange, toAttemptContext } from "../shared/exchange.js";
import { textPrices } from "../shared/model-type.js";
import { openAIProtocol } from "../shared/openai-protocol.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ExchangeFacts,
  ModelRequest,
  ModelTraits,
  Operation,
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
} from "../shared/prompt-layout.js";
import { promptTokens } from "../shared/prompt-tokens.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import {
  emptyMerged,
  type Merged,
  mergeDelta,
  pickMembers,
  type ReadResponse,
  type ResponseFormat,
  type ResponseJson,
} from "../shared/response-format.js";
import { responseTexts } from "../shared/response-texts.js";
import { ChatClientSink } from "../translate/chat-client-sink.js";
import { CustomCallsSink } from "../translate/custom-calls.js";
import { toMessagesTarget } from "../translate/messages-target.js";
import { customNames } from "../translate/messages-tools.js";
import { fewValuesSteps, requestValue } from "../translate/request-elements.js";
import { TranslatedExchange } from "../translate/translated-exchange.js";
import { ChatCodec } from "./chat-codec.js";
import { type ChatRequest, chatNames, chatTable, parseChatRequest, requestedOutputTokens } from "./chat-request.js";
import { toChatResponse } from "./chat-response.js";
import { asksToReason, encodeChatRequest, refuseMissing } from "./encode-chat-request.js";
import { choicesOf, readChoices, streamOfChoices } from "./read-choices.js";

/** `POST /v1/chat/completions` */
export const chatLayout: PromptLayout = {
  members: new Map<string, PromptMember>([
    ...besidePrompt,
    ...settings,
    ["messages", conversationMember],
    ["tools", schemaMember],
    ["functions", schemaMember],
    ["response_format", schemaMember],
    ["prediction", { rule: "prompt", role: "assistant" }],
    // Some servers put these before the messages.
    ["documents", { rule: "values", role: "user" }],
  ]),
  roleOf: (role) => role ?? "user",
  isToolResult: never,
};

/** What a refused completion keeps. */
const kept = ["id", "created", "model", "service_tier", "system_fingerprint", "usage"];

/** `POST /v1/chat/completions` */
export const chatResponses: ResponseFormat = {
  readWhole,
  readStream(chunks) {
    const json: Record<string, unknown> = {};
    const choices: Merged[] = [];
    for (const chunk of chunks) {
      Object.assign(json, pickMembers(chunk, kept));
      for (const choice of choicesOf(chunk)) addChoice(choices, choice);
    }
    choices.sort((one, other) => Number(one["index"]) - Number(other["index"]));
    return readWhole({ ...json, choices });
  },
  addedBy: (chunk) =>
    choicesOf(chunk).flatMap(({ index, delta }, at) => {
      const path = `choices[${place(index, at)}].message`;
      const { tool_calls: calls, ...others } = isRecord(delta) ? delta : {};
      const called = Array.isArray(calls) ? calls.filter(isRecord) : [];
      return [
        ...responseTexts(others, path),
        ...called.flatMap((call, at) => responseTexts(call, `${path}.tool_calls[${place(call["index"], at)}]`)),
      ];
    }),
  refused: (json, words) => ({
    object: "chat.completion",
    ...pickMembers(json, kept),
    choices: choicesOf(json).map(({ index }) => ({
      index,
      message: { role: "assistant", content: null, refusal: words },
      logprobs: null,
      finish_reason: "content_filter",
    })),
  }),
  toStream({ usage, choices, ...json }) {
    const head = { ...json, object: "chat.completion.chunk" };
    const refused = choicesOf({ choices }).map(({ message, ...rest }) => ({
      ...rest,
      delta: { ...(isRecord(message) ? message : undefined), content: "" },
    }));
    return streamOfChoices(head, refused, usage);
  },
};

function readWhole(json: ResponseJson): ReadResponse {
  return readChoices(json, "message");
}

/** Some servers leave it out. */
function place(index: unknown, otherwise: number): number {
  return typeof index === "number" ? index : otherwise;
}

function addChoice(choices: Merged[], { index = 0, delta, finish_reason: reason }: ResponseJson): void {
  let choice = choices.findLast((one) => one["index"] === index);
  if (choice === undefined) {
    choice = { index, message: emptyMerged(), finish_reason: null };
    choices.push(choice);
  }
  if (isRecord(delta)) mergeDelta(choice["message"] as Merged, delta);
  if (typeof reason === "string") choice["finish_reason"] = reason;
}

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
  answers: chatResponses,
  ...jsonBodies(parseChatRequest, (request) => new ChatModelRequest(request)),
};

class ChatModelRequest extends ParsedRequest<ChatRequest> implements ModelRequest {
  get asksForMuch(): boolean {
    return asksForMuch(this.request);
  }

  demand(model: ModelTraits, defaultOutputTokens: number | undefined): Demand {
    const request = this.request;
    requireAllowedMembers(request, model, chatTable);
    if (model.missing !== undefined) refuseMissing(request, calledName(model), model.missing);
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
      missing: model.missing,
    });
    return new ChatExchange(body, request, toAttemptContext(target, model, attempt, "messages"));
  }
}

class ChatExchange extends OpenAIExchange implements Exchange {
  readonly operation = "chat/completions";
  readonly #includeUsage: boolean;
  readonly #n: number;

  constructor(sent: Edited, { includeUsage, n }: ChatRequest, context: AttemptContext) {
    super(sent, context);
    this.#includeUsage = includeUsage;
    this.#n = n;
  }

  read(received: ReceivedResponse) {
    return toChatResponse(received, this.context);
  }

  readStream() {
    return new ChatCodec(this.context, this.#includeUsage, this.#n);
  }
}

/** A request for a chat completion, and the message of a server that speaks Anthropic's API. */
function chatOnMessages(
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
  const context = toAttemptContext(target, model, attempt, "messages");
  const source = yield* toMessagesTarget(request, facts, context);
  const sink = new ChatClientSink(context, request.includeUsage);
  const custom = customNames(requestValue(request, "tools"));
  return new TranslatedExchange(source, custom.size === 0 ? sink : new CustomCallsSink(sink, custom), attempt);
}
