import { Buffer } from "node:buffer";
import { beyondTarget } from "../../errors/target-limit.js";
import { isRecord } from "../../wire/is-record.js";
import type { AISDKSpeechModel } from "../ai-sdk-model.js";
import type { CheckedAISDKOptions } from "../ai-sdk-options.js";

/** The sound of a text. */
export interface Speech {
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
