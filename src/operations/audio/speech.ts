import { badGateway } from "../../errors/gateway-error.js";
import { largestCount } from "../../metering/token-counts.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import { readErrorBody } from "../../model-api/failure/read-error-body.js";
import { audioTypeOf, isAudioType, isPlainPcm } from "../../openai/audio/audio-types.js";
import { pcmTokens } from "../../openai/audio/speech-bounds.js";
import { SpeechBytes } from "../../openai/audio/speech-bytes.js";
import { SpeechCodec, type SpeechContext } from "../../openai/audio/speech-codec.js";
import { SpeechDecoder } from "../../openai/audio/speech-decoder.js";
import {
  parseSpeechRequest,
  parseSpeechRequestInTurns,
  type SpeechRequest,
  speechNames,
} from "../../openai/audio/speech-request.js";
import { addNameEdits } from "../upstream-body.js";
import { speechTable } from "../../openai/tables/speech-table.js";
import { editMembers, type MemberEdits, memberOf } from "../../wire/json-members.js";
import { contextWith, toAnswerContext, toFailureContext } from "../answer-context.js";
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
import type { ByteAnswer } from "../stream-codec.js";
import { speechLayout } from "./speech-layout.js";

/** `POST /v1/audio/speech` */
export const speech: Operation<"audio/speech"> = {
  name: "audio/speech",
  paths: ["/v1/audio/speech"],
  modelTypes: ["speech"],
  priced: {
    required: [["characters"], ["outputAudio"], ["output"], ["request"]],
    known: ["characters", "input", "output", "outputAudio", "request"],
  },
  protocol: openAIProtocol,
  names: speechNames,
  table: speechTable,
  prompt: speechLayout,
  answers: undefined,
  ...jsonBodies(
    jsonReader(parseSpeechRequest, parseSpeechRequestInTurns),
    (request) => new SpeechModelRequest(request),
  ),
};

class SpeechModelRequest extends ParsedRequest<SpeechRequest> implements ModelRequest {
  override get stream(): boolean {
    return this.request.wantsEvents;
  }

  get wantsBytes(): boolean {
    return !this.request.wantsEvents;
  }

  demand(model: ModelTraits): Demand {
    const request = this.request;
    requireAllowedMembers(request, model, speechTable);
    const { promptTokens, characters } = request;
    const outputTokens = isByTokens(model) ? Math.min(model.maxOutputTokens ?? largestCount, largestCount) : 0;
    const counts = { input: promptTokens, cachedInput: 0, reasoning: 0, characters };
    return {
      promptTokens,
      heldPromptTokens: promptTokens,
      promptBound: undefined,
      outputTokens,
      addedCap: undefined,
      most: { ...counts, output: outputTokens, outputAudio: outputTokens },
      handedOver: { ...counts, output: 0 },
    };
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has("audio/speech")) return undefined;
    return new SpeechExchange(this.request, { target, model, attempt });
  }
}

function isByTokens({ audio }: ModelTraits): boolean {
  return audio?.byTokens === true;
}

class SpeechExchange implements Exchange {
  readonly operation = "audio/speech";
  readonly bytesAreTokens = false;
  readonly body: Uint8Array;
  readonly #answer: AnswerContext;
  readonly #context: SpeechContext;
  readonly #format: string | undefined;

  constructor(
    request: SpeechRequest,
    { target, model, attempt }: { target: TargetTraits; model: ModelTraits; attempt: AttemptFacts },
  ) {
    const { body, members, format, wantsEvents, characters } = request;
    const byTokens = isByTokens(model);
    const dialect = target.rules.dialectFor(request, target.dialect, speechTable);
    const edits: MemberEdits = new Map([["model", JSON.stringify(target.upstreamModel)]]);
    if (dialect !== undefined) addNameEdits(request, dialect, edits);
    // Bytes have no usage.
    if (byTokens && dialect?.speechEvents === true && !wantsEvents) edits.set("stream_format", '"sse"');
    this.body = editMembers(body, members, edits);
    this.#format = format;
    this.#answer = toAnswerContext(target, model, attempt, "input");
    // At another rate, as many bytes last longer.
    const isTimed = format === "pcm" && memberOf(members, "sample_rate") === undefined;
    const tokensOf = isTimed ? pcmTokens(model.tokenBounds.audioPerSecond) : undefined;
    this.#context = contextWith(this.#answer, { characters, byTokens, tokensOf });
  }

  /** @throws GatewayError 502 for what is no sound, so that another target is called. */
  readBytes(headers: Readonly<Record<string, string>>): ByteAnswer {
    const type = headers["content-type"];
    if (type === undefined || isAudioType(type)) {
      const isTimed = type !== undefined && isPlainPcm(type);
      const bounds = isTimed ? this.#context : { ...this.#context, tokensOf: undefined };
      return new SpeechBytes(bounds, type ?? audioTypeOf(this.#format));
    }
    if (/^text\/event-stream\s*(;|$)/i.test(type)) return new SpeechDecoder(this.#context, audioTypeOf(this.#format));
    const cause = new Error(`It answered ${type.slice(0, 100)}, which is no audio.`);
    throw badGateway("The model did not answer. Try again.", { cause });
  }

  readStream() {
    return new SpeechCodec(this.#context);
  }

  readWhole(): never {
    throw new TypeError("Speech comes as bytes or as events.");
  }

  partialTokens(): UsageCounts {
    const { promptTokens, characters } = this.#context;
    return { input: promptTokens, cachedInput: 0, output: 0, reasoning: 0, characters };
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, toFailureContext(this.#answer, this.body));
  }
}
