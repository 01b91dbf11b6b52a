import { Buffer } from "node:buffer";
import { beyondTarget } from "../errors/refusal.js";
import { isRecord } from "../wire/is-record.js";
import {
  type AISDKSpeechModel,
  type AISDKTranscriptionModel,
  camelSettings,
  mergeProviderOptions,
} from "./ai-sdk-model.js";
import type { CheckedAISDKOptions } from "./ai-sdk-options.js";
import { typeOfFile } from "./data-url.js";
import { readUploadedForm, type UploadedForm } from "./uploaded-form.js";

/** The sound of a text. */
interface Speech {
  readonly sound: Uint8Array;
  /** As the model's server says; `undefined`: it says nothing of the sound. */
  readonly contentType: string | undefined;
}

/** @throws GatewayError 400 for a voice that a model of the AI SDK cannot be told. */
export async function speak(
  { input, voice, response_format, instructions, speed, language }: Record<string, unknown>,
  model: AISDKSpeechModel,
  { headers, providerOptions }: CheckedAISDKOptions,
  signal: AbortSignal,
): Promise<Speech> {
  if (voice !== undefined && voice !== null && typeof voice !== "string") {
    throw beyondTarget("voice", "This model takes the name of a voice as 'voice'.");
  }
  const callOptions = {
    text: input,
    voice: textOf(voice),
    outputFormat: textOf(response_format),
    instructions: textOf(instructions),
    speed: typeof speed === "number" ? speed : undefined,
    language: textOf(language),
    headers,
    providerOptions,
    abortSignal: signal,
  };
  const result = await model.doGenerate(callOptions as never);
  if (!isRecord(result)) throw new TypeError("The model's result is no speech.");
  const sound = toBytes(result["audio"]);
  return { sound, contentType: typeOf(sound, result["response"]) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function toBytes(audio: unknown): Uint8Array {
  if (audio instanceof Uint8Array) return audio;
  if (typeof audio === "string") return Buffer.from(audio, "base64");
  throw new TypeError("The model's result has no audio.");
}

const openingBrace = 0x7b;

/** Some servers put the sound into JSON: then the type is not the sound's. An error in place of it is JSON, too. */
function typeOf(sound: Uint8Array, response: unknown): string | undefined {
  const headers = isRecord(response) && isRecord(response["headers"]) ? response["headers"] : {};
  const type = headers["content-type"];
  if (typeof type !== "string") return undefined;
  const isSound = /^(audio\/|application\/octet-stream)/i.test(type);
  return isSound || sound[0] === openingBrace ? type : undefined;
}

/** Of sound in an event, in bytes: a multiple of three, so that the parts of base64 are those of the whole. */
const eventBytes = 48 * 1024;

/** The events of speech that has come as a whole. */
export function* speechEvents(sound: Uint8Array): Generator<Uint8Array, void, undefined> {
  const bytes = Buffer.from(sound.buffer, sound.byteOffset, sound.length);
  for (let start = 0; start < bytes.length; start += eventBytes) {
    const audio = bytes.toString("base64", start, start + eventBytes);
    yield Buffer.from(`data: {"type":"speech.audio.delta","audio":"${audio}"}\n\n`);
  }
  if (bytes.length > 0) yield Buffer.from('data: {"type":"speech.audio.done"}\n\n');
}

/**
 * The transcript of a form with audio: the body of a response of OpenAI's.
 * @throws GatewayError 400 for what a model of the AI SDK cannot do at all.
 */
export async function transcribe(
  call: { readonly body: Uint8Array; readonly contentType?: string | undefined },
  model: AISDKTranscriptionModel,
  { headers, providerOptions }: CheckedAISDKOptions,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const form = await readUploadedForm(call.body, call.contentType);
  refuseImpossible(form);
  const file = form.files.find(({ name }) => name === "file");
  if (file === undefined) throw new TypeError("The call's form has no file.");
  const callOptions = {
    audio: file.bytes,
    mediaType: typeOfFile("audio", file.bytes, file.type),
    headers,
    providerOptions: mergeProviderOptions(camelSettings(settingsOf(form), model), providerOptions),
    abortSignal: signal,
  };
  const result = await model.doGenerate(callOptions as never);
  if (!isRecord(result) || typeof result["text"] !== "string") throw new TypeError("The model's result has no text.");
  return toTranscript(result, form.fields.get("response_format")?.[0]);
}

/** Silence would be a wrong answer here. */
function refuseImpossible({ fields }: UploadedForm): void {
  if (fields.get("response_format")?.[0] === "diarized_json") {
    throw beyondTarget("response_format", "This model does not tell speakers apart.");
  }
  if (fields.has("known_speaker_references")) {
    throw beyondTarget("known_speaker_references", "This model takes no samples of speakers.");
  }
}

/** What the specification has no word for. */
function settingsOf({ fields }: UploadedForm): Record<string, unknown> {
  const temperature = Number(fields.get("temperature")?.[0] || Number.NaN);
  return {
    language: fields.get("language")?.[0],
    prompt: fields.get("prompt")?.[0],
    temperature: Number.isNaN(temperature) ? undefined : temperature,
    timestamp_granularities: fields.get("timestamp_granularities"),
    languages: fields.get("languages"),
    keywords: fields.get("keywords"),
  };
}

/** In the `usage` of the server's own response are tokens, which the AI SDK has no word for. */
function toTranscript(result: Record<string, unknown>, format: string | undefined): Record<string, unknown> {
  const { text, segments, language, durationInSeconds: duration, response } = result;
  const body = isRecord(response) && isRecord(response["body"]) ? response["body"] : {};
  const parts: unknown[] = Array.isArray(segments) ? segments : [];
  const transcript = {
    text,
    ...(typeof duration === "number" && { duration }),
    ...(isRecord(body["usage"]) && { usage: body["usage"] }),
  };
  if (format !== "verbose_json") return transcript;
  return {
    task: "transcribe",
    ...transcript,
    ...(typeof language === "string" && { language }),
    segments: parts.map(toSegment),
    ...(Array.isArray(body["words"]) && { words: body["words"] }),
  };
}

function toSegment(part: unknown, id: number): Record<string, unknown> {
  const { text, startSecond, endSecond } = isRecord(part) ? part : {};
  return { id, start: startSecond, end: endSecond, text };
}
