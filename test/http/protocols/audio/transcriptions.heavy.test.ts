import { Readable } from "node:stream";
import { createOpenAI } from "@ai-sdk/openai";
import { experimental_transcribe as transcribe } from "ai";
import OpenAI, { toFile } from "openai";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import type { ResponseGuard } from "../../../../src/hooks/response-guard.js";
import { createGate, errorBody, eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { mp3 } from "../../../support/audio-samples.js";
import { type MediaOptions, startMedia } from "../../../support/media-server.js";
import { plainWav, wavHead } from "../../../support/wav-head.js";

afterAll(expectNoSockets);

const path = "audio/transcriptions";

const byMinutes: Model = {
  id: "acme/hear",
  type: "transcription",
  price: { audioMinute: 0.006 },
  upstream: [
    { provider: "fake", model: "whisper-1" },
    { provider: "other", model: "whisper-2" },
  ],
};

const byTokens: Model = {
  id: "acme/tokens",
  type: "transcription",
  maxOutputTokens: 2000,
  price: { input: 2.5, inputAudio: 6, output: 10 },
  upstream: { provider: "fake", model: "gpt-4o-transcribe" },
};

const startHearing = (options: Partial<MediaOptions> = {}) =>
  startMedia({ models: [byMinutes, byTokens], operations: [path, "audio/translations"], ...options });

/** PCM of 16 bits and 8,000 samples a second. */
function wav(seconds: number): Buffer {
  return plainWav(Buffer.alloc(seconds * 16_000, 5), { rate: 8000 });
}

const heard = { text: "Hello there.", usage: { type: "duration", seconds: 9.5 } };

/** A form as it came to a server. */
async function formOf({ body, headers }: { body: Buffer; headers: { "content-type"?: string | undefined } }) {
  const form = await new Response(body, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
  return [...form.entries()];
}

type Entries = Awaited<ReturnType<typeof formOf>>;

/** The files come last. */
const fileOf = (entries: Entries) => entries[entries.length - 1]?.[1] as File;
const bytesOf = async (entries: Entries) => Buffer.from(await fileOf(entries).arrayBuffer());

const fieldsOf = async (request: Parameters<typeof formOf>[0]) =>
  Object.fromEntries(
    (await formOf(request)).map(([name, value]) => [name, typeof value === "string" ? value : "file"]),
  );

function upload(members: Record<string, string | string[]> = {}, file = wav(3), filename = "a.wav"): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: "acme/hear", ...members })) {
    for (const each of [value].flat()) form.append(name, each);
  }
  form.append("file", new Blob([file], { type: "audio/wav" }), filename);
  return form;
}

const send = ({ baseURL }: { baseURL: string }, form: FormData, to = path, headers: Record<string, string> = {}) =>
  fetch(`${baseURL}/${to}`, { method: "POST", headers: { authorization: "Bearer sk-pro", ...headers }, body: form });

describe("transcripts for real clients", () => {
  it("openai, with a file in front of the model, in one piece and chunked without a length", async () => {
    const { baseURL, server, events, checkBooks } = await startHearing();
    server.reply(wholeAnswer(heard));
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const sound = wav(3);
    for (const file of [
      await toFile(sound, "talk.wav", { type: "audio/wav" }),
      await toFile(Readable.from([sound]), "talk.wav"),
    ]) {
      const transcript = await client.audio.transcriptions.create({
        ...{ file, model: "acme/hear", language: "en", timestamp_granularities: ["word", "segment"] },
        include: ["logprobs"],
      });
      expect(transcript).toMatchObject(heard);
      const entries = await formOf(server.lastRequest);
      expect(
        entries
          .slice(0, -1)
          .map((entry) => entry.join("="))
          .sort(),
      ).toEqual([
        ...["include[]=logprobs", "language=en", "model=whisper-1", "timestamp_granularities[]=segment"],
        "timestamp_granularities[]=word",
      ]);
      expect([fileOf(entries).name, (await bytesOf(entries)).equals(sound)]).toEqual(["talk.wav", true]);
      expect(server.lastRequest.headers["content-length"]).toBe(String(server.lastRequest.body.length));
    }
    await checkBooks();
    expect(events[0]).toMatchObject({
      ...{ endpoint: path, usageSource: "provider", chargedMicro: 950, heldMicro: expect.any(Number) },
      tokens: { audioMs: 9_500 },
    });
  });

  it("the AI SDK, also of a server whose answer it would refuse", async () => {
    const { baseURL, server } = await startHearing();
    const model = createOpenAI({ baseURL, apiKey: "sk-pro" }).transcription("acme/hear");
    const options = { openai: { responseFormat: "verbose_json" } };
    // As vLLM answers.
    server.reply(
      wholeAnswer({
        ...{ text: "Hi.", duration: "2.5", language: "en" },
        segments: [{ id: 0, start: 0, end: 2.5, text: "Hi.", no_speech_prob: null }],
      }),
    );
    const result = await transcribe({ model, audio: wav(3), providerOptions: options, maxRetries: 0 });
    expect(result).toMatchObject({ text: "Hi.", durationInSeconds: 2.5, segments: [{ text: "Hi.", endSecond: 2.5 }] });
  });

  it.each([
    ["a length that is a text", { duration: "2.5" }],
    ["segments that lack numbers", { duration: 2.5, segments: [{ id: 0, start: 0, end: 2.5, text: "Hi." }] }],
  ])("the AI SDK, of a server that sends the same for json as for verbose_json: %s", async (_name, members) => {
    const { baseURL, server } = await startHearing({ dialect: { timedTranscripts: "json" } });
    server.reply(wholeAnswer({ text: "Hi.", ...members }));
    const model = createOpenAI({ baseURL, apiKey: "sk-pro" }).transcription("acme/hear");
    const result = await transcribe({ model, audio: wav(3), maxRetries: 0 });
    expect(result).toMatchObject({ text: "Hi.", durationInSeconds: 2.5 });
  });

  it("json that lacks nothing gets usage alone", async () => {
    const started = await startHearing({ dialect: { timedTranscripts: "json" } });
    const answer = { text: "Hi.", language: null, duration: null, segments: null };
    started.server.reply(wholeAnswer(answer));
    const response = await send(started, upload());
    expect(await response.json()).toEqual({ ...answer, usage: expect.anything() });
  });

  it("translations", async () => {
    const { baseURL, server } = await startHearing();
    server.reply(wholeAnswer(heard));
    const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const file = await toFile(wav(1), "a.wav");
    expect(await client.audio.translations.create({ file, model: "acme/hear" })).toMatchObject({ text: heard.text });
    expect(server.lastRequest.url).toBe("/v1/audio/translations");
  });
});

describe("the formats of a transcript", () => {
  const verbose = {
    ...{ task: "transcribe", language: "en", duration: 5.004, text: "Hi. Bye." },
    segments: [
      {
        ...{ id: 0, seek: 0, start: 0, end: 2.5, text: " Hi.", tokens: [1], temperature: 0, avg_logprob: -0.1 },
        compression_ratio: 1,
        no_speech_prob: 0,
      },
      {
        ...{
          id: 1,
          seek: 0,
          start: 3661.2345,
          end: 3662,
          text: " Bye --> now.",
          tokens: [2],
          temperature: 0,
          avg_logprob: -0.1,
        },
        compression_ratio: 1,
        no_speech_prob: 0,
      },
    ],
  };

  it.each([
    ["text", "verbose_json", heard, "Hello there.\n", 950],
    [
      "srt",
      "verbose_json",
      verbose,
      "1\n00:00:00,000 --> 00:00:02,500\nHi.\n\n2\n01:01:01,235 --> 01:01:02,000\nBye -> now.\n\n",
      501,
    ],
    [
      "vtt",
      "verbose_json",
      verbose,
      "WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nHi.\n\n01:01:01.235 --> 01:01:02.000\nBye -> now.\n\n",
      501,
    ],
  ])("%s is made of JSON, which says what it cost", async (format, sent, answer, text, charged) => {
    const started = await startHearing();
    started.server.reply(wholeAnswer(answer));
    const ended = started.nextEvent();
    const response = await send(started, upload({ response_format: format }));
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe(text);
    expect(await fieldsOf(started.server.lastRequest)).toMatchObject({ response_format: sent });
    expect(await ended).toMatchObject({ chargedMicro: charged, usageSource: "provider" });
  });

  const json = { text: verbose.text, usage: { type: "duration", seconds: 5.004 } };

  it.each<[string, Partial<MediaOptions>, Record<string, string>, string | undefined]>([
    ["minutes are priced", {}, {}, "verbose_json"],
    ["the server says it in json", { dialect: { timedTranscripts: "json" } }, {}, undefined],
    ["the server knows no other", { dialect: { transcriptFormats: [] } }, {}, undefined],
    ["its client asks for what is in json alone", {}, { "include[]": "logprobs" }, undefined],
    ["its client asks for a stream", {}, { stream: "true" }, undefined],
    ["tokens are priced", {}, { model: "acme/tokens" }, undefined],
    [
      "OpenAI's model knows no other",
      { models: [{ ...byMinutes, upstream: { provider: "fake", model: "gpt-4o-mini-transcribe-2025-12-15" } }] },
      {},
      undefined,
    ],
  ])("json is asked for as the format that says how long it was, where %s", async (_name, options, fields, sent) => {
    const started = await startHearing(options);
    started.server.reply(wholeAnswer(verbose));
    await (await send(started, upload(fields))).text();
    expect((await fieldsOf(started.server.lastRequest))["response_format"]).toBe(sent);
  });

  it("json has nothing of what says how long it was, but usage", async () => {
    const started = await startHearing();
    started.server.reply(wholeAnswer({ ...verbose, words: [], x_own: { id: "1" } }));
    const ended = started.nextEvent();
    expect(await (await send(started, upload())).json()).toEqual({ ...json, x_own: { id: "1" } });
    expect(await ended).toMatchObject({ chargedMicro: 501, usageSource: "provider" });
  });

  it.each([
    ["srt", "1\n00:00:00,000 --> 00:00:02,500\nHi.\n\n"],
    ["vtt", "WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nHi.\n\n"],
  ])("%s has the text of a server that knows no segments", async (format, text) => {
    const started = await startHearing();
    started.server.reply(wholeAnswer({ text: "Hi.", duration: 2.5, segments: [] }));
    expect(await (await send(started, upload({ response_format: format }))).text()).toBe(text);
  });

  it("verbose JSON has numbers in place of texts: its own length, and what is finite", async () => {
    const started = await startHearing();
    const segments = [{ ...verbose.segments[0], avg_logprob: "-Infinity", no_speech_prob: "0.25" }];
    const usage = { type: "duration", seconds: 10 };
    started.server.reply(wholeAnswer({ ...verbose, duration: "9.5", segments, usage }));
    const response = await send(started, upload({ response_format: "verbose_json" }));
    expect(await response.json()).toMatchObject({
      ...{ duration: 9.5, usage },
      segments: [{ avg_logprob: 0, no_speech_prob: 0.25 }],
    });
  });

  it("verbose JSON that is whole stays as it came, with usage in the unit that is charged", async () => {
    const started = await startHearing();
    started.server.reply(wholeAnswer(verbose));
    const response = await send(started, upload({ response_format: "verbose_json" }));
    expect(await response.json()).toEqual({ ...verbose, usage: { type: "duration", seconds: 5.004 } });
  });

  it("a server's own is charged by the audio where nothing can be made of what it knows", async () => {
    const started = await startHearing({ dialect: { transcriptFormats: ["srt"] } });
    started.server.reply(wholeAnswer("1\n00:00:00,000 --> 00:00:02,500\nHi.\n\n"));
    const ended = started.nextEvent();
    const response = await send(started, upload({ response_format: "srt" }));
    expect(await response.text()).toContain("Hi.");
    expect(await fieldsOf(started.server.lastRequest)).toMatchObject({ response_format: "srt" });
    expect(await ended).toMatchObject({
      usageSource: "estimated",
      tokens: { audioMs: expect.any(Number) },
      chargedMicro: 300,
    });
  });
});

describe("what a transcript is held at and charged", () => {
  const microOf = (seconds: number) => Math.ceil(Math.ceil(seconds * 1000 - 1e-6) * 0.1);

  it.each<[string, FormData, Partial<Model>, number]>([
    ["a plain WAV, by its samples", upload({}, wav(3)), {}, 3],
    ["a plain WAV of nothing that is said", upload({}, wav(3), "audio"), {}, 3],
    ["next to nothing", upload({}, wav(0.125)), {}, 1],
    [
      "a WAV whose size never ends",
      upload({}, Buffer.concat([wavHead(8000, 0xffffffff), Buffer.alloc(48_000)])),
      {},
      7200,
    ],
    ["MP3 in the samples of a WAV", upload({}, plainWav(mp3(96))), {}, 7200],
    ["a WAV that is called MP3", upload({}, wav(3), "a.mp3"), {}, 7200],
    ["MP3", upload({}, mp3(96)), {}, 7200],
    ["FLAC of a model with a bound", upload({}, Buffer.from("fLaC and so on")), { maxAudioSeconds: 1500 }, 1500],
    [
      "Opus of clients that are trusted",
      upload({}, Buffer.alloc(50_000, "OggS")),
      { leastAudioBytesPerSecond: 500 },
      100,
    ],
    ["more Opus than any model takes", upload({}, Buffer.alloc(50_000)), { leastAudioBytesPerSecond: 1 }, 7200],
  ])("%s", async (_name, form, model, seconds) => {
    const started = await startHearing({ models: [{ ...byMinutes, ...model }] });
    started.server.reply(wholeAnswer({ text: "Hi." }));
    const ended = started.nextEvent();
    await send(started, form);
    const micro = { heldMicro: microOf(seconds), chargedMicro: microOf(seconds) };
    expect(await ended).toMatchObject({ ...micro, usageSource: "estimated" });
  });

  it("a WAV that is longer than the model takes calls nobody", async () => {
    const started = await startHearing({ models: [{ ...byMinutes, maxAudioSeconds: 2 }] });
    const response = await send(started, upload({}, wav(3)));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "audio_too_long", param: "file" } });
    expect(started.server.requests).toEqual([]);
  });

  it("is by what the upstream says, whatever the file is", async () => {
    const started = await startHearing();
    started.server.reply(wholeAnswer({ text: "Hi.", duration: 90 }));
    const ended = started.nextEvent();
    await send(started, upload({}, mp3(30)));
    expect(await ended).toMatchObject({ chargedMicro: microOf(90), heldMicro: microOf(7200), usageSource: "provider" });
  });

  it.each<[string, Buffer, number]>([
    ["its samples", wav(3), 3],
    ["all that there may be", mp3(30), 7200],
  ])("is by %s where the client leaves before there is a response", async (_name, file, seconds) => {
    const started = await startHearing();
    const gate = createGate();
    started.server.reply(async () => await gate.pass());
    const ended = started.nextEvent();
    const leaving = new AbortController();
    const sent = fetch(`${started.baseURL}/${path}`, {
      ...{ method: "POST", headers: { authorization: "Bearer sk-pro" }, signal: leaving.signal },
      body: upload({}, file),
    });
    await vi.waitFor(() => expect(started.server.requests).toHaveLength(1));
    leaving.abort();
    await expect(sent).rejects.toThrow();
    expect(await ended).toMatchObject({ chargedMicro: microOf(seconds), usageSource: "partial" });
    gate.open();
  });

  it.each<[string, Buffer, unknown, number]>([
    ["where it ends, if nothing else is known", mp3(30), 2.5, 2.5],
    ["all that there may be, where it ends behind that, as in nanoseconds", mp3(30), 2_500_000_000, 7200],
    ["its samples, whatever silence follows it", wav(3), 1, 3],
  ])("by its last part alone is %s", async (_name, file, end, seconds) => {
    const started = await startHearing();
    started.server.reply(wholeAnswer({ text: "Hi.", segments: [{ start: 0, end, text: "Hi." }] }));
    const ended = started.nextEvent();
    await send(started, upload({}, file));
    expect(await ended).toMatchObject({ chargedMicro: microOf(seconds) });
  });

  it("segments of speakers stay as they came", async () => {
    const started = await startHearing();
    const segments = [{ type: "transcript.text.segment", id: "seg_1", start: 0, end: 2.5, text: "Hi.", speaker: "A" }];
    const diarized = { task: "transcribe", duration: 2.5, text: "Hi.", segments, usage: heard.usage };
    started.server.reply(wholeAnswer(diarized));
    const references = Array.from({ length: 4 }, () => "data:audio/wav;base64,AAAA");
    const ended = started.nextEvent();
    const response = await send(
      started,
      upload({ response_format: "diarized_json", "known_speaker_references[]": references }),
    );
    expect(await response.text()).toBe(JSON.stringify(diarized));
    expect(await ended).toMatchObject({ heldMicro: Math.ceil(43_000 * 0.1), chargedMicro: 950 });
  });

  it("samples of speakers are 40 seconds more", async () => {
    const started = await startHearing();
    started.server.reply(wholeAnswer(heard));
    const ended = started.nextEvent();
    await send(
      started,
      upload({ "known_speaker_references[]": ["data:a", "data:b"], "known_speaker_names[]": ["A", "B"] }),
    );
    expect((await ended).heldMicro).toBe(Math.ceil(43_000 * 0.1));
  });

  it.each<[string, string, object, object]>([
    [
      "tokens, which a model by minutes does not know: the audio is charged",
      "acme/hear",
      { type: "tokens", input_tokens: 14, output_tokens: 9, total_tokens: 23 },
      { usageSource: "estimated", chargedMicro: 300 },
    ],
    [
      "tokens by kind",
      "acme/tokens",
      {
        ...{ type: "tokens", input_tokens: 14, output_tokens: 9 },
        input_token_details: { text_tokens: 4, audio_tokens: 10 },
      },
      { usageSource: "provider", chargedMicro: 4 * 2.5 + 10 * 6 + 9 * 10 },
    ],
    [
      "seconds, which a model by tokens does not know: never 0",
      "acme/tokens",
      { type: "duration", seconds: 3 },
      { usageSource: "estimated", tokens: { inputAudio: 96, audioMs: 3000 } },
    ],
    ["Mistral's seconds", "acme/hear", { prompt_audio_seconds: 4 }, { usageSource: "provider", chargedMicro: 400 }],
    [
      "zeros, which say nothing",
      "acme/hear",
      { type: "duration", seconds: 0 },
      { usageSource: "estimated", chargedMicro: 300 },
    ],
  ])("usage of %s", async (_name, model, usage, charged) => {
    const started = await startHearing();
    started.server.reply(wholeAnswer({ text: "Hi.", usage }));
    const ended = started.nextEvent();
    await send(started, upload({ model }));
    expect(await ended).toMatchObject(charged);
  });

  it("the next target gets the same bytes, under its own name of the model", async () => {
    const started = await startHearing();
    started.server.reply(wholeAnswer(errorBody("down", { type: "server_error" }), { status: 503 }));
    started.other.reply(wholeAnswer(heard));
    const sound = wav(3);
    expect((await send(started, upload({}, sound))).status).toBe(200);
    const [first, second] = [await formOf(started.server.lastRequest), await formOf(started.other.lastRequest)];
    expect([first, second].map((entries) => entries.find(([name]) => name === "model")?.[1])).toEqual([
      "whisper-1",
      "whisper-2",
    ]);
    for (const entries of [first, second]) {
      expect((await bytesOf(entries)).equals(sound)).toBe(true);
    }
  });
});

describe("a stream of a transcript", () => {
  const delta = (text: string) => ({ type: "transcript.text.delta", delta: text });
  const done = { type: "transcript.text.done", text: "Hi there.", usage: { type: "duration", seconds: 3 } };
  const chunk = (content: string, finish: string | null = null) => ({
    ...{ id: "trsc-1", object: "transcription.chunk", choices: [{ delta: { content }, finish_reason: finish }] },
  });

  async function streamed(answer: FakeAnswer, options: Partial<MediaOptions> = {}) {
    const started = await startHearing(options);
    started.server.reply(answer);
    const ended = started.nextEvent();
    const client = new OpenAI({ baseURL: started.baseURL, apiKey: "sk-pro", maxRetries: 0 });
    const file = await toFile(wav(3), "a.wav");
    const seen: unknown[] = [];
    let failure: unknown;
    try {
      const stream = await client.audio.transcriptions.create({ file, model: "acme/hear", stream: true });
      for await (const event of stream) seen.push(event);
    } catch (error) {
      failure = error;
    }
    return { seen, failure, event: await ended, server: started.server };
  }

  it("reaches openai as it came", async () => {
    const { seen, event } = await streamed(eventStream([delta("Hi "), delta("there."), done]));
    expect(seen).toEqual([delta("Hi "), delta("there."), done]);
    expect(event).toMatchObject({ usageSource: "provider", chargedMicro: 300, stream: true });
  });

  it("is made of chunks as those of chat, with one end", async () => {
    const chunks = [chunk("Hi "), chunk("", "stop"), chunk("there."), chunk("", "stop")];
    const usage = {
      ...chunk(""),
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 2, prompt_audio_seconds: 3 },
    };
    const { seen, event, server } = await streamed(eventStream([...chunks, usage]), {
      dialect: { transcriptStream: { fields: { stream_include_usage: "true" } } },
    });
    expect(seen).toEqual([delta("Hi "), delta("there."), { ...done, usage: usage.usage }]);
    expect(await fieldsOf(server.lastRequest)).toMatchObject({ stream: "true", stream_include_usage: "true" });
    expect(event).toMatchObject({ usageSource: "provider", chargedMicro: 300 });
  });

  it("is made of a document where the server knows none", async () => {
    const { seen, event } = await streamed(wholeAnswer({ text: "Hi there.", usage: done.usage }));
    expect(seen).toEqual([delta("Hi there."), done]);
    expect(event).toMatchObject({ usageSource: "provider", chargedMicro: 300 });
  });

  it("without usage says in its end what is charged", async () => {
    const { seen, event } = await streamed(wholeAnswer({ text: "Hi there.", duration: 2.5 }));
    expect(seen).toEqual([delta("Hi there."), { ...done, usage: { type: "duration", seconds: 2.5 } }]);
    expect(event).toMatchObject({ usageSource: "provider", chargedMicro: 250 });
  });

  it("has the long texts of chunks in full", async () => {
    const [first, second] = ["x".repeat(2500), "あ".repeat(900)];
    const usage = { ...chunk(""), choices: [], usage: { prompt_audio_seconds: 3 } };
    const { seen } = await streamed(eventStream([chunk(first), chunk(second, "stop"), usage]));
    expect(seen).toEqual([delta(first), delta(second), { ...done, text: first + second, usage: usage.usage }]);
  });

  // 2,100 bytes of UTF-8 are 700 tokens, as in a document: 96 x 6 + 700 x 10.
  it.each([
    ["in one long piece", [delta("あ".repeat(700))]],
    ["in short pieces", Array.from({ length: 70 }, () => delta("あ".repeat(10)))],
    ["at the end alone", []],
  ])("without usage is charged by the bytes of its text, which comes %s", async (_name, deltas) => {
    const started = await startHearing();
    const end = { type: "transcript.text.done", text: "あ".repeat(700) };
    started.server.reply(eventStream([...deltas, end]));
    const ended = started.nextEvent();
    await (await send(started, upload({ model: "acme/tokens", stream: "true" }))).text();
    expect(await ended).toMatchObject({ usageSource: "estimated", tokens: { output: 700 }, chargedMicro: 7576 });
  });

  // 96 x 6 + 2,000 x 10: as it was held.
  it.each([false, true])("without usage is charged no more than the model may write (stream: %s)", async (isStream) => {
    const started = await startHearing();
    const text = "あ".repeat(9000);
    started.server.reply(
      isStream ? eventStream([delta(text), { type: "transcript.text.done", text }]) : wholeAnswer({ text }),
    );
    const ended = started.nextEvent();
    await (await send(started, upload({ model: "acme/tokens", stream: String(isStream) }))).text();
    const expected = { tokens: { output: 2000 }, chargedMicro: 20_576, heldMicro: 20_576 };
    expect(await ended).toMatchObject({ usageSource: "estimated", ...expected });
  });

  // 96 x 6 + 700 x 10, as above.
  it("is charged for text in events that are named and have no type, where it breaks off", async () => {
    const started = await startHearing();
    const named = `event: transcript.text.delta\ndata: ${JSON.stringify({ delta: "あ".repeat(700) })}\n\n`;
    started.server.reply(eventStream([Buffer.from(named)], { done: false }));
    const ended = started.nextEvent();
    await (await send(started, upload({ model: "acme/tokens", stream: "true" }))).text().catch(() => "");
    expect(await ended).toMatchObject({ usageSource: "partial", tokens: { output: 700 }, chargedMicro: 7576 });
  });

  it("that does not come to its end is an error, and is charged for the audio", async () => {
    const { seen, failure, event } = await streamed(eventStream([delta("Hi ")], { done: false }));
    expect(seen).toEqual([delta("Hi ")]);
    expect(failure).toMatchObject({ message: expect.stringContaining("broke off") });
    expect(event).toMatchObject({ usageSource: "partial", chargedMicro: 300 });
  });

  it("that says it is done before its end is an error, which openai sees", async () => {
    const { failure, event } = await streamed(eventStream([delta("Hi ")], { done: true }));
    expect(failure).toMatchObject({ message: expect.stringContaining("broke off") });
    expect(event).toMatchObject({ usageSource: "partial", chargedMicro: 300 });
  });

  it("with an error in the middle throws it", async () => {
    const { failure } = await streamed(
      eventStream([delta("Hi "), { error: { message: "Bad.", type: "server_error" } }]),
    );
    expect(failure).toBeDefined();
  });
});

it.each(["0", "0.2", "1", "2", "1e-7", ".5"])("a temperature of %s passes as it is", async (temperature) => {
  const started = await startHearing();
  started.server.reply(wholeAnswer(heard));
  expect((await send(started, upload({ temperature }))).status).toBe(200);
  expect(await fieldsOf(started.server.lastRequest)).toMatchObject({ temperature });
});

it.each([
  ["temperature_inc", "0.2"],
  ["temperature_inc", "0"],
  ["word_thold", "0.01"],
  ["entropy_thold", "2.40"],
  ["logprob_thold", "-1.00"],
  ["no_speech_thold", ".6"],
])("a setting of whisper.cpp that is a number passes as it is: %s of %s", async (name, value) => {
  const started = await startHearing();
  started.server.reply(wholeAnswer(heard));
  expect((await send(started, upload({ [name]: value }))).status).toBe(200);
  expect(await fieldsOf(started.server.lastRequest)).toMatchObject({ [name]: value });
});

it("a number that is empty is left out, as HTML forms send one", async () => {
  const started = await startHearing();
  started.server.reply(wholeAnswer(heard));
  const fields = upload({ temperature: "", temperature_inc: "", logprob_thold: "", language: "de" });
  expect((await send(started, fields)).status).toBe(200);
  const sent = await fieldsOf(started.server.lastRequest);
  expect(sent).toMatchObject({ language: "de" });
  for (const name of ["temperature", "temperature_inc", "logprob_thold"]) expect(sent).not.toHaveProperty(name);
});

describe("a form that is refused", () => {
  const form = (body: string, boundary = "b") => ({
    body,
    headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
  });
  const field = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\nsound\r\n';
  const model = field("model", "acme/hear");

  it.each<[string, string, string | null, string]>([
    ["the model twice", `${model}${model}${file}--b--`, "model", "invalid_value"],
    ["a model in another spelling", `${model}${field("Model", "acme/tokens")}${file}--b--`, "Model", "invalid_value"],
    ["a model in a list", `${field("model[]", "acme/hear")}${file}--b--`, "model", "invalid_value"],
    [
      "a model that is a file",
      `${model.replace('name="model"', 'name="model"; filename="m"')}${file}--b--`,
      "model",
      "invalid_value",
    ],
    ["no model", `${file}--b--`, "model", "missing_required_parameter"],
    ["no file", `${model}--b--`, "file", "missing_required_parameter"],
    ["a file that is a field", `${model}${field("file", "sound")}--b--`, "file", "invalid_value"],
    ["two files", `${model}${file}${file}--b--`, "file", "invalid_value"],
    ["an empty file", `${model}${file.replace("sound", "")}--b--`, "file", "invalid_value"],
    [
      "a file by another name",
      `${model}${file}${file.replace('name="file"', 'name="other"')}--b--`,
      "other",
      "invalid_value",
    ],
    ["a stream of 1", `${model}${field("stream", "1")}${file}--b--`, "stream", "invalid_value"],
    ["a stream of True", `${model}${field("stream", "True")}${file}--b--`, "stream", "invalid_value"],
    ["another format", `${model}${field("response_format", "xml")}${file}--b--`, "response_format", "invalid_value"],
    [
      "a temperature that is a word",
      `${model}${field("temperature", "abc")}${file}--b--`,
      "temperature",
      "invalid_type",
    ],
    ["a temperature of a space", `${model}${field("temperature", " ")}${file}--b--`, "temperature", "invalid_type"],
    ["a tiny temperature", `${model}${field("temperature", "1e-99")}${file}--b--`, "temperature", "invalid_type"],
    ["a negative temperature", `${model}${field("temperature", "-1")}${file}--b--`, "temperature", "invalid_value"],
    ...["abc", "0x1", "nan", "1,5", "9".repeat(40)].map((value): [string, string, string, string] => [
      `an increment of ${value}`,
      `${model}${field("temperature_inc", value)}${file}--b--`,
      ...(["temperature_inc", "invalid_type"] as const),
    ]),
    ...["0.000000001", "1e-3", "-0.2", "3"].map((value): [string, string, string, string] => [
      `an increment of ${value}`,
      `${model}${field("temperature_inc", value)}${file}--b--`,
      ...(["temperature_inc", "invalid_value"] as const),
    ]),
    ["a threshold of no number", `${model}${field("word_thold", "inf")}${file}--b--`, "word_thold", "invalid_type"],
    ["a large threshold", `${model}${field("entropy_thold", "101")}${file}--b--`, "entropy_thold", "invalid_value"],
    ["a high temperature", `${model}${field("temperature", "2.1")}${file}--b--`, "temperature", "invalid_value"],
    [
      "a setting of the server's",
      `${model}${field("audio_ctx", "9")}${file}--b--`,
      "audio_ctx",
      "unsupported_parameter",
    ],
    ["a number of transcripts", `${model}${field("n", "9")}${file}--b--`, "n", "unsupported_parameter"],
    ["a file of the server's", `${model}${field("file_id", "x")}${file}--b--`, "file_id", "unsupported_parameter"],
    ["a field that is no UTF-8", `${model}${field("language", "\u00ff")}${file}--b--`, "language", "invalid_value"],
    [
      "a field of three bytes that are no character",
      `${model}${field("language", "\u00f0\u0090\u0080")}${file}--b--`,
      "language",
      "invalid_value",
    ],
    [
      "five references",
      `${model}${field("known_speaker_references[]", "x").repeat(5)}${file}--b--`,
      "known_speaker_references",
      "invalid_value",
    ],
    [
      "a long field that has the name of a method",
      `${model}${field("constructor", "x".repeat(70_000))}${file}--b--`,
      "constructor",
      "invalid_value",
    ],
    [
      "fields that are long as JSON",
      `${model}${Array.from({ length: 30 }, (_, at) => field(`x${at}`, "\u0000".repeat(60_000))).join("")}${file}--b--`,
      null,
      "invalid_form",
    ],
    ["__proto__", `${model}${field("__proto__", "x")}${file}--b--`, null, "invalid_value"],
    ["no end", `${model}${file}`, null, "invalid_form"],
    ["nothing", "", null, "invalid_form"],
  ])("for %s calls nobody", async (_name, body, param, code) => {
    const started = await startHearing();
    const { headers } = form(body);
    const response = await fetch(`${started.baseURL}/${path}`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", ...headers },
      body: Buffer.from(body, "latin1"),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param, code } });
    expect(started.server.requests).toEqual([]);
  });

  it("for JSON is a 415, and for being too large a 413 that names the limit of forms", async () => {
    const started = await startHearing({ maxUploadBytes: 100_000 });
    expect((await started.post(path, { model: "acme/hear" })).status).toBe(415);
    const response = await send(started, upload({}, wav(10)));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining("100000 bytes") } });
  });

  it("does not: a content type of media, without what is no plain parameter", async () => {
    const started = await startHearing();
    started.server.reply(wholeAnswer(heard));
    for (const [type, sent] of [
      ["audio/webm;codecs=opus", "audio/webm;codecs=opus"],
      ['audio/ogg; codecs="opus, vorbis"', 'audio/ogg; codecs="opus, vorbis"'],
      ["multipart/mixed; boundary=b", "application/octet-stream"],
      ["message/rfc822", "application/octet-stream"],
      ["audio/wav; x=\u00e9", "application/octet-stream"],
      ["audio/wav; name=(a)", "application/octet-stream"],
    ] as const) {
      const typed = file.replace("\r\n\r\n", `\r\nContent-Type: ${type}\r\n\r\n`);
      const init = form(`${model}${typed}--b--`);
      const headers = { authorization: "Bearer sk-pro", ...init.headers };
      const response = await fetch(`${started.baseURL}/${path}`, { method: "POST", headers, body: init.body });
      expect([type, response.status]).toEqual([type, 200]);
      expect(started.server.lastRequest.body.toString()).toContain(`\r\nContent-Type: ${sent}\r\n\r\nsound`);
    }
  });

  it("does not: boundaries inside the file, odd file names, and a file name with a path", async () => {
    const started = await startHearing();
    started.server.reply(wholeAnswer(heard));
    const sound = Buffer.concat([wav(1), Buffer.from("\r\n--not-a-boundary\r\n--")]);
    for (const [name, sent] of [
      ["größe 1.wav", "größe 1.wav"],
      ["../../etc/passwd.mp3", "passwd.mp3"],
      ['q"uote; 100%.wav', "q_uote_ 100_.wav"],
      ["\u{1f600} 1\t2.wav", "_ 1_2.wav"],
      ["..", "file"],
      ["a/.", "file"],
    ] as const) {
      expect((await send(started, upload({}, sound, name))).status).toBe(200);
      const entries = await formOf(started.server.lastRequest);
      expect([fileOf(entries).name, (await bytesOf(entries)).equals(sound)]).toEqual([sent, true]);
    }
  });
});

it("a transcript that is a text is no place for what it cost, whatever it says", async () => {
  const started = await startHearing({ exposeCost: true });
  started.server.reply(wholeAnswer({ ...heard, text: '{"usage":{}}' }));
  const response = await send(started, upload({ response_format: "text" }));
  expect(await response.text()).toBe('{"usage":{}}\n');
  const json = await (await send(started, upload())).json();
  expect(json).toMatchObject({ usage: { seconds: 9.5, cost: 9.5 * 0.0001 } });
});

describe("a hook", () => {
  it.each([false, true])("reads the texts of a form, replaces them, and sets fields (cost: %s)", async (exposeCost) => {
    const started = await startHearing({
      exposeCost,
      onRequest: async (call) => {
        const texts = await call.texts();
        return {
          texts: texts.map(({ path: at, text }) => ({ path: at, text: text.replace("secret", "[gone]") })),
          upstream: { set: { temperature: 0, language: "de" } },
        };
      },
    });
    started.server.reply(wholeAnswer(heard));
    const sound = wav(1);
    expect((await send(started, upload({ prompt: "A secret talk", language: "en" }, sound))).status).toBe(200);
    expect(await fieldsOf(started.server.lastRequest)).toEqual({
      ...{ model: "whisper-1", prompt: "A [gone] talk", language: "de", temperature: "0", file: "file" },
      response_format: "verbose_json",
    });
    expect((await bytesOf(await formOf(started.server.lastRequest))).equals(sound)).toBe(true);
  });
});

describe("a guard of answers", () => {
  const guards: ResponseGuard[] = [
    {
      name: "no_names",
      answer: ({ texts }) => (texts.some(({ text }) => text.includes("there")) ? { refuse: "No." } : undefined),
    },
  ];

  it.each([
    ["json", { text: "No.", usage: heard.usage }],
    ["text", "No."],
  ])("refuses a transcript in %s", async (format, expected) => {
    const started = await startHearing({ guards });
    started.server.reply(wholeAnswer(heard));
    const response = await send(started, upload({ response_format: format }));
    expect(format === "json" ? await response.json() : await response.text()).toEqual(expected);
  });

  it("refuses a transcript in a stream", async () => {
    const started = await startHearing({ guards });
    started.server.reply(
      eventStream([
        { type: "transcript.text.delta", delta: "Hi there." },
        { type: "transcript.text.done", text: "Hi there." },
      ]),
    );
    const text = await (await send(started, upload({ stream: "true" }))).text();
    expect(text).not.toContain("there");
    expect(text).toContain('"text":"No."');
  });
});
