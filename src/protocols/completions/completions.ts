import { textWords } from "../chat/chat-response.js";
import { choicesOf, readChoices, streamOfChoices } from "../chat/read-choices.js";
import { addedCapOf, heldOutput, mostOutputTokens, requireAllowedMembers } from "../shared/demand.js";
import { OpenAIExchange, toAttemptContext } from "../shared/exchange.js";
import { countInput, promptDemand, requireInputsFit } from "../shared/inputs.js";
import { textPrices } from "../shared/model-type.js";
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
import { asksForMuch, jsonBodies, ParsedRequest } from "../shared/parsed-request.js";
import { layoutOf, promptMembers, schemaMember } from "../shared/prompt-layout.js";
import type { ReceivedResponse } from "../shared/received-response.js";
import { pickMembers, type ReadResponse, type ResponseFormat, type ResponseJson } from "../shared/response-format.js";
import { responseTexts } from "../shared/response-texts.js";
import { CompletionCodec } from "./completion-codec.js";
import {
  type CompletionRequest,
  completionNames,
  completionsTable,
  encodeCompletionRequest,
  parseCompletionRequest,
} from "./completion-request.js";
import { AskedChoices, toCompletionResponse } from "./completion-response.js";

/** `POST /v1/completions` */
const completionsLayout = layoutOf([
  ...promptMembers(["prompt", "suffix"], "prompt", "user"),
  ["response_format", schemaMember],
]);

/** What a refused completion keeps. */
const kept = ["id", "created", "model", "system_fingerprint", "usage"];

/** `POST /v1/completions` */
export const completionResponses: ResponseFormat = {
  readWhole,
  readStream(chunks) {
    const json: Record<string, unknown> = {};
    const choices = new Map<unknown, { index: unknown; text: string; finish_reason: unknown }>();
    for (const chunk of chunks) {
      Object.assign(json, pickMembers(chunk, kept));
      for (const { index = 0, text, finish_reason: reason } of choicesOf(chunk)) {
        const choice = choices.get(index) ?? { index, text: "", finish_reason: null };
        if (typeof text === "string") choice.text += text;
        if (typeof reason === "string") choice.finish_reason = reason;
        choices.set(index, choice);
      }
    }
    const inOrder = [...choices.values()].sort((one, other) => Number(one.index) - Number(other.index));
    return readWhole({ ...json, choices: inOrder });
  },
  addedBy: (chunk) =>
    choicesOf(chunk).flatMap(({ index, text }, at) =>
      responseTexts(text, `choices[${Number.isInteger(index) ? index : at}].text`),
    ),
  refused: (json, words) => ({
    object: textWords.whole,
    ...pickMembers(json, kept),
    choices: choicesOf(json).map(({ index }) => ({
      index,
      text: words,
      logprobs: null,
      finish_reason: "content_filter",
    })),
  }),
  toStream: ({ usage, choices, ...json }) => streamOfChoices(json, choices, usage),
};

function readWhole(json: ResponseJson): ReadResponse {
  return readChoices(json, "text");
}

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
  answers: completionResponses,
  ...jsonBodies(parseCompletionRequest, (request) => new CompletionModelRequest(request)),
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

class CompletionExchange extends OpenAIExchange implements Exchange {
  readonly operation = "completions";
  readonly #request: CompletionRequest;

  constructor(request: CompletionRequest, target: TargetTraits, model: ModelTraits, attempt: AttemptFacts) {
    const sent = encodeCompletionRequest(request, {
      model: target.upstreamModel,
      maxOutputTokens: mostOutputTokens(model),
      addedCap: attempt.addedCap,
      dialect: target.rules.dialectFor(request, target.dialect, completionsTable),
    });
    super(sent, toAttemptContext(target, model, attempt, "prompt"));
    this.#request = request;
  }

  read(received: ReceivedResponse) {
    return toCompletionResponse(received, new AskedChoices(this.#request), this.context);
  }

  readStream() {
    return new CompletionCodec(this.context, new AskedChoices(this.#request), this.#request.includeUsage);
  }
}
