import { badGateway } from "../../errors/gateway-error.js";
import { largestCount, type UsageCounts } from "../../prices/usage-counts.js";
import { editMembers, type MemberEdits, memberOf } from "../../wire/json-members.js";
import { requireAllowedMembers } from "../shared/demand.js";
import {
  type AttemptContext,
  contextWith,
  readErrorBody,
  toAttemptContext,
  toFailureContext,
} from "../shared/exchange.js";
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
import { addNameEdits, jsonBodies, ParsedRequest } from "../shared/parsed-request.js";
import { layoutOf, promptMembers } from "../shared/prompt-layout.js";
import type { ByteAnswer } from "../shared/stream-codec.js";
import { SpeechBytes, SpeechCodec, type SpeechContext, SpeechDecoder } from "./speech-codec.js";
import { pcmTokens } from "./speech-progress.js";
import { parseSpeechRequest, type SpeechRequest, speechNames, speechTable } from "./speech-request.js";

const settings = ["voice", "response_format", "stream_format", "speed", "language", "lang_code", "sample_rate"];

/** `POST /v1/audio/speech` */
const speechLayout = layoutOf([
  ...promptMembers(settings, "settings"),
  ...promptMembers(["input"], "prompt", "user"),
  ...promptMembers(["instructions"], "prompt"),
  ...promptMembers(["ref_audio"], "none", "user"),
]);

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
  ...jsonBodies(parseSpeechRequest, (request) => new SpeechModelRequest(request)),
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
      chargedOnceSent: { ...counts, output: 0 },
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
  readonly #answer: AttemptContext;
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
    this.#answer = toAttemptContext(target, model, attempt, "input");
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

/** The content types of formats that clients ask for. */
const types: ReadonlyMap<string, string> = new Map([
  ["mp3", "audio/mpeg"],
  ["opus", "audio/opus"],
  ["aac", "audio/aac"],
  ["flac", "audio/flac"],
  ["wav", "audio/wav"],
  ["pcm", "audio/pcm"],
]);

/** @param format - as the client asks for it; `undefined`: the usual one. */
function audioTypeOf(format = "mp3"): string {
  return types.get(format) ?? "application/octet-stream";
}

/** Whether an upstream says that its response is sound. */
function isAudioType(contentType: string): boolean {
  return /^(audio\/[\w.+-]+|application\/octet-stream)\s*(;|$)/i.test(contentType);
}

/** Whether it is PCM, and of no rate of its own. */
function isPlainPcm(contentType: string): boolean {
  return /^audio\/pcm\s*$/i.test(contentType);
}
