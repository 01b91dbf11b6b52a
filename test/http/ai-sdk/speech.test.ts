import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it } from "vitest";
import type { AISDKModel, AISDKSpeechModel } from "../../../src/ai-sdk.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { errorBody, wholeAnswer } from "../../../src/testing.js";
import { startMedia } from "./start-media.js";

type MakeModel = (origin: string, name: string) => AISDKModel;

const openAI: MakeModel = (origin, name) => createOpenAI({ baseURL: `${origin}/v1`, apiKey: "sk-secret" }).speech(name);

const own =
  (result: unknown): MakeModel =>
  () => ({
    ...{ specificationVersion: "v2", provider: "own", modelId: "m" },
    doGenerate: (() => Promise.resolve(result)) satisfies AISDKSpeechModel["doGenerate"],
  });

const plain: Model = {
  id: "acme/voice",
  type: "speech",
  price: { characters: 15 },
  upstream: { provider: "sdk", model: "tts-1" },
};

const sound = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 31) % 256));

async function startSpeech(make: MakeModel, model: Model = plain) {
  const media = await startMedia(make, model);
  const say = async (members: object = {}) => {
    const body = JSON.stringify({ model: model.id, input: "Hello 🎈", voice: "nova", ...members });
    const response = await media.send("audio/speech", body);
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, type: response.headers.get("content-type"), bytes };
  };
  return { ...media, say };
}

const asSound = (type: string) => wholeAnswer(sound, { headers: { "content-type": type } });

describe("a speech model of the AI SDK", () => {
  it("speaks, at the price of the characters", async () => {
    const { server, say, events } = await startSpeech(openAI);
    server.reply(asSound("audio/flac"));
    const members = { response_format: "flac", instructions: "Softly", speed: 1.5 };
    const { status, type, bytes } = await say(members);
    expect({ status, type }).toEqual({ status: 200, type: "audio/flac" });
    expect(bytes.equals(sound)).toBe(true);
    expect(server.lastRequest.json).toEqual({ model: "tts-1", input: "Hello 🎈", voice: "nova", ...members });
    expect(events[0]).toMatchObject({ chargedMicro: 7 * 15, tokens: { characters: 7 } });
  });

  it("speaks in events, of which nothing is lost", async () => {
    const { server, say, events } = await startSpeech(openAI);
    server.reply(asSound("audio/mpeg"));
    const { bytes } = await say({ stream_format: "sse" });
    const parts = bytes
      .toString()
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice(6)));
    const deltas = parts.filter(({ type }) => type === "speech.audio.delta");
    expect(deltas.length).toBeGreaterThan(1);
    expect(Buffer.from(deltas.map(({ audio }) => audio).join(""), "base64").equals(sound)).toBe(true);
    expect(parts.at(-1)).toMatchObject({ type: "speech.audio.done" });
    expect(events[0]).toMatchObject({ chargedMicro: 7 * 15 });
  });

  it("is charged by an estimate of its tokens", async () => {
    const model: Model = { ...plain, maxOutputTokens: 2000, price: { input: 0.6, outputAudio: 12 } };
    const { server, say, events } = await startSpeech(openAI, model);
    server.reply(asSound("audio/mpeg"));
    expect((await say()).status).toBe(200);
    expect(events[0]).toMatchObject({ usageSource: "estimated", tokens: { outputAudio: 2000 } });
  });

  it("may have sound in JSON", async () => {
    const response = { headers: { "content-type": "application/json" } };
    const { say } = await startSpeech(own({ audio: sound.toString("base64"), response }));
    const { type, bytes } = await say({ response_format: "wav" });
    expect(type).toBe("audio/wav");
    expect(bytes.equals(sound)).toBe(true);
  });

  it.each<[string, MakeModel]>([
    ["an error with a status of 200", openAI],
    ["no sound", own({ audio: "" })],
    ["no result", own(undefined)],
  ])("has not spoken: %s", async (_name, make) => {
    const { server, say, events } = await startSpeech(make);
    server.reply(wholeAnswer(errorBody("Sorry, sk-secret")));
    const { status, bytes } = await say();
    expect(status).toBe(502);
    expect(bytes.toString()).not.toContain("sk-secret");
    expect(events[0]?.chargedMicro ?? 0).toBe(0);
  });

  it("takes the name of a voice alone", async () => {
    const { server, say } = await startSpeech(openAI);
    const { status, bytes } = await say({ voice: { id: "voice_1" } });
    expect({ status, param: JSON.parse(bytes.toString()).error.param }).toEqual({ status: 400, param: "voice" });
    expect(server.requests).toHaveLength(0);
  });
});
