import { Buffer } from "node:buffer";
import { headerSecrets } from "../providers/headers.js";
import type { UpstreamCall, UpstreamProvider, UpstreamResponse } from "../providers/upstream-provider.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import { isRecord } from "../wire/is-record.js";
import {
  type AISDKLanguageModel,
  type AISDKModel,
  isEmbeddingModel,
  isImageModel,
  isLanguageModel,
  isRerankingModel,
  isSpeechModel,
  isTranscriptionModel,
  modelHeaders,
} from "./ai-sdk-model.js";
import { type AISDKOptions, allOperations, checkAISDKOptions } from "./ai-sdk-options.js";
import { toCallOptions } from "./chat/call-options.js";
import { toCompletion } from "./chat/completion.js";
import { CompletionChunks, completionStream } from "./chat/completion-stream.js";
import { readEditedImages, UnreadInputs } from "./edited-images.js";
import { embed, embeddingUsage, PartlyEmbedded, toEmbeddingList } from "./embed.js";
import { answerOf } from "./error-response.js";
import { generateImages, type ImageOptions, imageBody } from "./generate-images.js";
import { ModelWatch } from "./model-watch.js";
import { rank } from "./rank.js";
import { speak, speechEvents, transcribe } from "./speech.js";

/**
 * A language, embedding, reranking, image, speech or transcription model of the AI SDK as an upstream: Anthropic, Google,
 * Bedrock, and whatever else has an AI SDK provider. It translates requests and responses; what a model cannot do at all is a 400.
 *
 * A failed call is not repeated: the model may have run although nothing of its response arrived.
 * @throws TypeError when an option is not valid.
 *
 * @example
 * ```ts
 * const providers = { anthropic: aiSDK({ model: anthropic }) };
 * ```
 */
export function aiSDK(options: AISDKOptions): UpstreamProvider {
  const checked = checkAISDKOptions(options);
  const unread = new UnreadInputs();
  let called: AISDKModel | undefined;
  /** What is secret of the model that was called last. */
  let told: UpstreamSecrets | undefined;
  let toldOf: AISDKModel | undefined;
  const modelFor = (name: string): AISDKModel => {
    called = checked.modelFor(name);
    return called;
  };
  return {
    operations: checked.operations,
    secrets: () => {
      if (told === undefined || toldOf !== called) {
        told = headerSecrets({ ...(called === undefined ? undefined : modelHeaders(called)), ...checked.headers });
        toldOf = called;
      }
      return told;
    },
    async call(call) {
      const watch = new ModelWatch(call.notice ?? call.signal);
      let isStreaming = false;
      try {
        // The model writes a body of its own.
        const { "content-type": _type, ...further } = call.headers ?? {};
        const headers = { ...checked.headers, ...further };
        const answer = await callModel(call, { ...checked, modelFor, headers, unread }, watch);
        isStreaming = call.stream && call.endpoint === "chat/completions";
        return answer;
      } catch (error) {
        const isPartial = error instanceof PartlyEmbedded;
        const { status, headers, error: modelError } = answerOf(isPartial ? error.thrown : error, call.model);
        const usage = isPartial ? { usage: embeddingUsage(error.used) } : undefined;
        return toAnswer({ error: modelError, ...usage }, status ?? 502, headers);
      } finally {
        if (!isStreaming) watch.end();
      }
    },
  };
}

const jsonType = { "content-type": "application/json" };
const eventsType = { "content-type": "text/event-stream; charset=utf-8" };

async function callModel(call: UpstreamCall, options: ImageOptions, watch: ModelWatch): Promise<UpstreamResponse> {
  if (!allOperations.includes(call.endpoint)) {
    throw new TypeError(`aiSDK: a model of the AI SDK cannot be asked for "${call.endpoint}".`);
  }
  const model = options.modelFor(call.model);
  const whole = <Result>(pending: PromiseLike<Result>) => watch.wait(pending, options.firstByteTimeoutMs);
  if (call.endpoint === "audio/transcriptions") {
    if (!isTranscriptionModel(model)) throw wrongModel(model, "a transcription model");
    return toAnswer(await whole(transcribe(call, model, options, watch.signal)));
  }
  if (call.endpoint === "images/edits") {
    if (!isImageModel(model)) throw wrongModel(model, "an image model");
    const asked = await readEditedImages(call);
    return ofPieces(jsonType, imageBody(await whole(generateImages(asked, model, options, watch.signal))));
  }
  const request: unknown = JSON.parse(Buffer.from(call.body).toString());
  if (!isRecord(request)) throw new TypeError("The call's body is no JSON object.");
  switch (call.endpoint) {
    case "embeddings":
      if (!isEmbeddingModel(model)) throw wrongModel(model, "an embedding model");
      return toAnswer(toEmbeddingList(await whole(embed(request, model, options, watch.signal)), call.model));
    case "rerank":
      if (!isRerankingModel(model)) throw wrongModel(model, "a reranking model");
      return toAnswer(await whole(rank(request, model, options, watch.signal)));
    case "images/generations":
      if (!isImageModel(model)) throw wrongModel(model, "an image model");
      return ofPieces(
        jsonType,
        imageBody(await whole(generateImages({ members: request }, model, options, watch.signal))),
      );
    case "audio/speech": {
      if (!isSpeechModel(model)) throw wrongModel(model, "a speech model");
      const { sound, contentType } = await whole(speak(request, model, options, watch.signal));
      if (call.stream) return ofPieces(eventsType, speechEvents(sound));
      return ofPieces(contentType === undefined ? {} : { "content-type": contentType }, [sound]);
    }
  }
  if (!isLanguageModel(model)) throw wrongModel(model, "a language model");
  const callOptions = {
    ...(await toCallOptions(request, model, options, call.outputCap)),
    abortSignal: watch.signal,
  } as never;
  if (!call.stream) return toAnswer(toCompletion(await whole(generate(model, callOptions)), model, call));
  const { stream } = await whole(startStream(model, callOptions, watch.signal));
  return {
    status: 200,
    headers: eventsType,
    body: completionStream(stream, new CompletionChunks(model, call), watch, options.idleTimeoutMs),
  };
}

/** Async, so that what a model throws at once is a rejection like any other. */
async function generate(model: AISDKLanguageModel, callOptions: never): Promise<unknown> {
  return model.doGenerate(callOptions);
}

async function startStream(
  model: AISDKLanguageModel,
  callOptions: never,
  signal: AbortSignal,
): Promise<{ stream: ReadableStream<unknown> }> {
  const started = await model.doStream(callOptions);
  // The call has ended, and its model has ignored the signal.
  if (signal.aborted) started.stream.cancel().catch(() => {});
  return started;
}

function toAnswer(json: object, status = 200, headers: Record<string, string> = {}): UpstreamResponse {
  return {
    status,
    headers: { ...headers, ...jsonType },
    body: inOrder([Buffer.from(JSON.stringify(json))]),
  };
}

function ofPieces(headers: Record<string, string>, pieces: Iterable<Uint8Array>): UpstreamResponse {
  return { status: 200, headers, body: inOrder(pieces) };
}

async function* inOrder(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined, undefined> {
  yield* pieces;
}

function wrongModel({ provider, modelId }: AISDKModel, wanted: string): TypeError {
  return new TypeError(
    `aiSDK: "${modelId}" of "${provider}" is not ${wanted}. Correct the model's type in the catalog.`,
  );
}
