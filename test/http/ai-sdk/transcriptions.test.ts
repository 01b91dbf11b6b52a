import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, it } from "vitest";
import type { AISDKModel, AISDKTranscriptionModel } from "../../../src/ai-sdk.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { errorBody, wholeAnswer } from "../../../src/testing.js";
import { startMedia } from "./start-media.js";

type MakeModel = (origin: string, name: string) => AISDKModel;

const openAI: MakeModel = (origin, name) =>
  createOpenAI({ baseURL: `${origin}/v1`, apiKey: "sk-secret" }).transcription(name);

const own =
  (result: unknown): MakeModel =>
  () => ({
    ...{ specificationVersion: "v2", provider: "own", modelId: "m" },
    doGenerate: (() => Promise.resolve(result)) satisfies AISDKTranscriptionModel["doGenerate"],
  });

const byMinutes: Model = {
  id: "acme/hear",
  type: "transcription",
  maxAudioSeconds: 60,
  price: { audioMinute: 0.006 },
  upstream: { provider: "sdk", model: "whisper-1" },
};

const byTokens: Model = {
  id: "acme/tokens",
  type: "transcription",
  maxAudioSeconds: 60,
  maxOutputTokens: 2000,
  price: { input: 2.5, inputAudio: 6, output: 10 },
  upstream: { provider: "sdk", model: "gpt-4o-transcribe" },
};

const ogg = Buffer.concat([Buffer.from("OggS\0\0"), Buffer.alloc(300_000, 7)]);
const heard = { text: "Hello there.", language: "english", duration: 9.5, segments: [segment(0, 4), segment(4, 9.5)] };

function segment(start: number, end: number) {
  const counts = { seek: 0, tokens: [1], temperature: 0, avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };
  return { id: 0, start, end, text: `From ${start}`, ...counts };
}

async function startHearing(make: MakeModel, model: Model = byMinutes) {
  const media = await startMedia(make, model);
  const hear = async (fields: Record<string, string | readonly string[]> = {}) => {
    const form = new FormData();
    form.set("file", new Blob([ogg], { type: "application/octet-stream" }), "a.bin");
    form.set("model", model.id);
    for (const [name, value] of Object.entries(fields)) for (const each of [value].flat()) form.append(name, each);
    const response = await media.send("audio/transcriptions", form);
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
    const json = (text.startsWith("{") ? JSON.parse(text) : undefined) as any;
    return { status: response.status, text, json };
  };
  return { ...media, hear };
}

/** A form as it came to a server. */
async function formOf({ body, headers }: { body: Buffer; headers: { "content-type"?: string | undefined } }) {
  return await new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
}

describe("a transcription model of the AI SDK", () => {
  it("hears a form, at the price of its minutes", async () => {
    const { server, hear, events } = await startHearing(openAI);
    server.reply(wholeAnswer(heard));
    const fields = { language: "en", prompt: "Names: Ada", temperature: "0.5", "timestamp_granularities[]": ["word"] };
    const { status, json } = await hear(fields);
    expect(status).toBe(200);
    expect(json).toMatchObject({ text: "Hello there.", usage: { type: "duration", seconds: 9.5 } });
    const form = await formOf(server.lastRequest);
    expect(Object.fromEntries([...form].filter(([, value]) => typeof value === "string"))).toEqual({
      ...{ model: "whisper-1", response_format: "verbose_json", ...fields },
      "timestamp_granularities[]": "word",
    });
    const file = form.get("file") as File;
    expect(file.name).toBe("audio.ogg");
    expect(Buffer.from(await file.arrayBuffer()).equals(ogg)).toBe(true);
    expect(events[0]).toMatchObject({ chargedMicro: 950, usageSource: "provider", tokens: { audioMs: 9500 } });
  });

  it("gives all formats", async () => {
    const { server, hear, events } = await startHearing(openAI);
    server.reply(wholeAnswer({ ...heard, words: [{ word: "Hello", start: 0, end: 1 }] }));
    const { json } = await hear({ response_format: "verbose_json" });
    expect(json).toMatchObject({
      ...{ task: "transcribe", language: "en", duration: 9.5, words: [{ word: "Hello" }] },
      segments: [segment(0, 4), segment(4, 9.5)].map(({ start, end, text }, id) => ({ id, start, end, text, seek: 0 })),
    });
    expect((await hear({ response_format: "text" })).text).toBe("Hello there.\n");
    expect((await hear({ response_format: "srt" })).text).toContain("00:00:04,000 --> 00:00:09,500\nFrom 4");
    expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([950, 950, 950]);
  });

  it("gives a stream of what it has heard", async () => {
    const { server, hear, events } = await startHearing(openAI);
    server.reply(wholeAnswer(heard));
    const { text } = await hear({ stream: "true" });
    expect(text).toContain('"type":"transcript.text.delta","delta":"Hello there."');
    expect(text).toContain('"type":"transcript.text.done"');
    expect(events[0]).toMatchObject({ chargedMicro: 950 });
  });

  it("is charged by the tokens that its server reports", async () => {
    const { server, hear, events } = await startHearing(openAI, byTokens);
    const input_token_details = { audio_tokens: 90, text_tokens: 10 };
    const usage = { type: "tokens", input_tokens: 100, output_tokens: 20, total_tokens: 120, input_token_details };
    server.reply(wholeAnswer({ text: "Hello there.", usage }));
    expect((await hear()).json.usage).toEqual(usage);
    expect(events[0]).toMatchObject({ chargedMicro: 10 * 2.5 + 90 * 6 + 20 * 10, usageSource: "provider" });
  });

  it.each([
    ["minutes", byMinutes, { chargedMicro: 6000, usageSource: "estimated" }],
    ["tokens", byTokens, { usageSource: "estimated" }],
  ])("is charged by an estimate where it reports no %s", async (_name, model, expected) => {
    const { hear, events } = await startHearing(own({ text: "Hello.", segments: [] }), model);
    expect((await hear()).json.text).toBe("Hello.");
    expect(events[0]).toMatchObject(expected);
    expect(events[0]?.chargedMicro).toBeGreaterThan(0);
  });

  it.each([
    [{ response_format: "diarized_json" }, "response_format"],
    [{ "known_speaker_references[]": "data:audio/wav;base64,AAAA" }, "known_speaker_references"],
  ])("is not asked for what it cannot do: %j", async (fields, param) => {
    const { server, hear } = await startHearing(openAI);
    const { status, json } = await hear(fields);
    expect({ status, param: json.error.param }).toEqual({ status: 400, param });
    expect(server.requests).toHaveLength(0);
  });

  it("has errors without its key, and no result is no transcript", async () => {
    const { server, hear, events } = await startHearing(openAI);
    server.reply(wholeAnswer(errorBody("Invalid key sk-secret."), { status: 401 }));
    const { status, text } = await hear();
    expect(status).toBe(502);
    expect(text).not.toContain("sk-secret");
    expect(events[0]?.chargedMicro ?? 0).toBe(0);
    expect((await (await startHearing(own({ audio: "" }))).hear()).status).toBe(502);
  });
});
