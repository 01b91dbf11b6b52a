import { beyondTarget } from "../../errors/target-limit.js";
import { isRecord } from "../../wire/is-record.js";
import type { AISDKTranscriptionModel } from "../ai-sdk-model.js";
import type { CheckedAISDKOptions } from "../ai-sdk-options.js";
import { mergeProviderOptions } from "../merge-provider-options.js";
import { camelSettings } from "./media-settings.js";
import { typeOfFile } from "./type-of-file.js";
import { readUploadedForm, type UploadedForm } from "./uploaded-form.js";

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
