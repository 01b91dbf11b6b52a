import { Buffer } from "node:buffer";
import { GatewayError, invalidValue } from "../../errors/gateway-error.js";
import type { OperationName } from "../../prices/operation-name.js";
import { largestCount, type UsageCounts } from "../../prices/usage-counts.js";
import { requireAllowedMembers } from "../shared/demand.js";
import { toAttemptContext } from "../shared/exchange.js";
import { requireFormType } from "../shared/form-request.js";
import type { PriceTerms } from "../shared/model-type.js";
import { openAIProtocol } from "../shared/openai-protocol.js";
import type {
  AttemptFacts,
  Demand,
  Exchange,
  ModelRequest,
  ModelTraits,
  Operation,
  TargetTraits,
  UploadedBodies,
} from "../shared/operation.js";
import { ParsedRequest } from "../shared/parsed-request.js";
import { layoutOf, promptMembers } from "../shared/prompt-layout.js";
import { pickMembers, type ReadResponse, type ResponseFormat, type ResponseJson } from "../shared/response-format.js";
import { responseTexts } from "../shared/response-texts.js";
import { TranscriptExchange } from "./transcript-exchange.js";
import {
  parseTranscription,
  type TranscriptionRequest,
  transcriptionForm,
  transcriptionsTable,
  transcriptionWith,
  translationsTable,
} from "./transcription-request.js";
import type { TranscriptBounds } from "./use-of-transcript.js";

const settings = [
  ...["response_format", "timestamp_granularities", "chunking_strategy", "language", "languages", "vad_filter"],
  ...["vad_config", "top_k", "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty"],
];

/** The fields of forms with audio. */
const transcriptionsLayout = layoutOf([
  ...promptMembers(settings, "settings"),
  ...promptMembers(["prompt", "hotwords", "keywords"], "prompt", "user"),
  ...promptMembers(["known_speaker_references"], "none", "user"),
]);

/** What a refused transcript keeps: what clients require of one. */
const kept = ["task", "language", "duration", "usage"];

/** Transcripts, whole and streamed. What is no JSON is its text. */
const transcriptResponses: ResponseFormat = {
  readWhole,
  readStream(events) {
    const done = events.findLast(({ type }) => type === "transcript.text.done");
    const deltas = events.flatMap(({ type, delta }) => (type === "transcript.text.delta" ? [String(delta)] : []));
    const { text = deltas.join(""), usage } = done ?? {};
    return readWhole({ text, ...(usage !== undefined && { usage }) });
  },
  addedBy: ({ type, delta }) => (type === "transcript.text.delta" ? responseTexts(delta, "text") : []),
  refused: (json, words) => ({
    ...pickMembers(json, kept),
    text: words,
    ...(json["segments"] !== undefined && { segments: [] }),
  }),
  toStream({ text, usage }) {
    const events = [
      { type: "transcript.text.delta", delta: text },
      { type: "transcript.text.done", text, usage },
    ];
    return Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  },
};

function readWhole(json: ResponseJson): ReadResponse {
  return { texts: responseTexts(json["text"], "text"), finishReasons: [], json };
}

type Hearing = Extract<OperationName, "audio/transcriptions" | "audio/translations">;

/** By the minute that was heard, by tokens, or by the call. */
const priced: PriceTerms = {
  required: [["audioMinute"], ["inputAudio", "output"], ["input", "output"], ["request"]],
  known: ["audioMinute", "input", "inputAudio", "output", "request"],
};

const shared = {
  modelTypes: ["transcription"],
  priced,
  protocol: openAIProtocol,
  names: transcriptionForm.names,
  prompt: transcriptionsLayout,
  answers: transcriptResponses,
} as const;

/** `POST /v1/audio/transcriptions` */
export const transcriptions: Operation<"audio/transcriptions"> = {
  ...shared,
  name: "audio/transcriptions",
  paths: ["/v1/audio/transcriptions"],
  table: transcriptionsTable,
  ...formBodies("audio/transcriptions"),
};

/** `POST /v1/audio/translations`: into English. */
export const translations: Operation<"audio/translations"> = {
  ...shared,
  name: "audio/translations",
  paths: ["/v1/audio/translations"],
  table: translationsTable,
  ...formBodies("audio/translations"),
};

function formBodies(operation: Hearing): UploadedBodies {
  return {
    takesUploads: true,
    checkContentType: requireFormType,
    parse: async (pieces, _, facts) =>
      toModelRequest(operation, await parseTranscription(pieces, facts.header("content-type"))),
  };
}

const tables = { "audio/transcriptions": transcriptionsTable, "audio/translations": translationsTable };

/** @throws GatewayError 400 */
function toModelRequest(operation: Hearing, request: TranscriptionRequest): ModelRequest {
  if (operation === "audio/translations") {
    if (request.stream) throw invalidValue("stream", "A translation does not come in a stream.");
    if (request.format === "diarized_json") {
      throw invalidValue("response_format", "A translation does not tell speakers apart.");
    }
  }
  return new TranscriptionModelRequest(operation, request);
}

class TranscriptionModelRequest extends ParsedRequest<TranscriptionRequest> implements ModelRequest {
  readonly #operation: Hearing;

  constructor(operation: Hearing, request: TranscriptionRequest) {
    super(request);
    this.#operation = operation;
  }

  get fields(): Uint8Array {
    return this.request.body;
  }

  withFields(json: Uint8Array): ModelRequest {
    return toModelRequest(this.#operation, transcriptionWith(json, this.request));
  }

  letGo(): void {
    this.request.files.letGo();
  }

  /** The audio is measured when what it counts is asked for: an account without credits causes no such work. */
  demand(model: ModelTraits): Demand {
    const { request } = this;
    requireAllowedMembers(request, model, tables[this.#operation]);
    requireShortEnough(request, model);
    const byTokens = model.audio?.byTokens === true;
    const outputTokens = byTokens ? Math.min(model.maxOutputTokens ?? largestCount, largestCount) : 0;
    return {
      get promptTokens() {
        return boundsOf(request, model).promptTokens;
      },
      get heldPromptTokens() {
        return boundsOf(request, model).promptTokens;
      },
      promptBound: undefined,
      outputTokens,
      addedCap: undefined,
      get most() {
        return { ...heardBy(boundsOf(request, model)), output: outputTokens };
      },
      get chargedOnceSent() {
        return heardBy(boundsOf(request, model));
      },
    };
  }

  exchangeWith(target: TargetTraits, model: ModelTraits, attempt: AttemptFacts): Exchange | undefined {
    if (!target.operations.has(this.#operation)) return undefined;
    const dialect = target.rules.dialectFor(this.request, target.dialect, tables[this.#operation]);
    const answer = toAttemptContext(target, model, attempt, "file");
    const bounds = boundsOf(this.request, model);
    const isTimed = target.price.units.includes("audioMs");
    return new TranscriptExchange(this.#operation, this.request, { answer, bounds, dialect, isTimed });
  }
}

/**
 * What is held, and charged where nobody reports anything. Compressed audio has no bound by its bytes: silence takes nearly
 * none.
 */
function boundsOf(
  { audio, speakerSeconds, promptTokens: ofText }: TranscriptionRequest,
  model: ModelTraits,
): TranscriptBounds {
  const { leastBytesPerSecond, byTokens = false } = model.audio ?? {};
  const byRate = leastBytesPerSecond === undefined ? Number.POSITIVE_INFINITY : audio.bytes / leastBytesPerSecond;
  const heard = audio.seconds ?? Math.min(byRate, longestOf(model));
  const seconds = Math.max(1, heard) + speakerSeconds;
  const inputAudio = byTokens ? Math.min(Math.ceil(seconds * model.tokenBounds.audioPerSecond), largestCount) : 0;
  const promptTokens = Math.min(inputAudio + ofText, largestCount);
  // Sums of fractions come out a little above.
  return {
    audioMs: Math.ceil(Number((seconds * 1000).toFixed(6))),
    promptTokens,
    inputAudio,
    byTokens,
    isMeasured: audio.seconds !== undefined,
  };
}

/** @throws GatewayError 400 */
function requireShortEnough({ audio }: TranscriptionRequest, model: ModelTraits): void {
  const { statedSeconds: seconds = 0 } = audio;
  const longest = longestOf(model);
  if (seconds <= longest) return;
  const message = `The audio is ${Math.ceil(seconds)} seconds long, and this model takes ${longest} at most. Send it in parts.`;
  throw new GatewayError(message, { status: 400, code: "audio_too_long", param: "file" });
}

function longestOf({ audio }: ModelTraits): number {
  return audio?.mostSeconds ?? usualSeconds;
}

function heardBy({ promptTokens, inputAudio, audioMs }: TranscriptBounds): UsageCounts {
  return { input: promptTokens, cachedInput: 0, inputAudio, output: 0, reasoning: 0, audioMs };
}

const usualSeconds = 7_200;
