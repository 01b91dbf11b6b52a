import { Buffer } from "node:buffer";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createOpenAI } from "@ai-sdk/openai";
import { experimental_transcribe as transcribe } from "ai";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { type ClientServer, startServer } from "../clients/start-server.js";
import { lastEvent } from "./last-event.js";
import { sentenceModel } from "./sentence-model.js";
import { silentWav } from "./silent-wav.js";
import { programOf, type ServerProcess, startServerProcess } from "./start-server-process.js";

const program = programOf("WHISPER_SERVER", "Set it to whisper.cpp's `whisper-server` to test a real one.");

const hears: Model = {
  id: "acme/hear",
  type: "transcription",
  price: { audioMinute: 0.006 },
  upstream: { provider: "hears", model: "sentence" },
};

/** What the model writes of every half minute. */
const words = [" The", " same", " words", ",", " whatever", " it", " hears", "."];
const sentence = words.join("");

describe.skipIf(program === undefined)("whisper-server behind the gateway", () => {
  let folder: string;
  const processes: ServerProcess[] = [];
  let server: ClientServer;
  let client: OpenAI;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "infergate-whisper-"));
    const path = join(folder, "sentence.bin");
    await writeFile(path, sentenceModel(words));
    // The server speaks one path alone.
    const start = async (spoken: "audio/transcriptions" | "audio/translations", flags: readonly string[] = []) => {
      const all = ["--model", path, "--threads", "1", "--inference-path", `/v1/${spoken}`, ...flags];
      const started = await startServerProcess(program ?? "", all);
      processes.push(started);
      return openAICompatible({
        baseURL: `${started.origin}/v1`,
        operations: [spoken],
        dialect: { strictMembers: true },
      });
    };
    server = await startServer({
      models: [hears, { ...hears, id: "acme/translate", upstream: { provider: "translates", model: "sentence" } }],
      providers: { hears: await start("audio/transcriptions"), translates: await start("audio/translations", ["-tr"]) },
    });
    client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 });
  });
  afterAll(async () => {
    await server?.checkBooks();
    await server?.close();
    for (const started of processes) await started.close();
    await rm(folder, { recursive: true, force: true });
  });

  const talk = async (seconds = 11) => toFile(silentWav(seconds), "talk.wav", { type: "audio/wav" });

  it.each(["json", "verbose_json"] as const)(
    "writes %s, and charges the length of the audio",
    async (response_format) => {
      const heard = await client.audio.transcriptions.create({
        file: await talk(),
        model: "acme/hear",
        response_format,
      });
      expect(heard).toMatchObject({ text: `${sentence}\n` });
      // The server says how long the audio was in one format alone; the bytes of a WAV say it, too.
      expect(await lastEvent(server)).toMatchObject({
        usageSource: response_format === "json" ? "estimated" : "provider",
        tokens: { audioMs: expect.toSatisfy((ms: number) => ms >= 11_000 && ms <= 11_010) },
        chargedMicro: expect.toSatisfy((micro: number) => micro >= 1100 && micro <= 1101),
      });
    },
  );

  it.each([
    ["text", `${sentence}\n\n`],
    ["srt", `1\n00:00:00,000 --> 00:00:10,000\n${sentence.trim()}\n\n`],
    ["vtt", `WEBVTT\n\n00:00:00.000 --> 00:00:10.000\n${sentence.trim()}\n\n`],
  ] as const)("writes %s", async (response_format, text) => {
    const heard = await client.audio.transcriptions.create({ file: await talk(), model: "acme/hear", response_format });
    expect(heard).toBe(text);
    expect((await lastEvent(server))?.chargedMicro).toBeGreaterThanOrEqual(1100);
  });

  it("is heard by the AI SDK, with segments", async () => {
    const model = createOpenAI({ baseURL: server.baseURL, apiKey: "sk-pro" }).transcription("acme/hear");
    const providerOptions = { openai: { timestampGranularities: ["segment"] } };
    const heard = await transcribe({ model, audio: silentWav(40), providerOptions, maxRetries: 0 });
    expect(heard.text.trim()).toMatch(new RegExp(`^(${sentence.trim()}\\s*)+$`));
    expect(heard.durationInSeconds).toBe(40);
    expect(heard.segments[0]).toMatchObject({ startSecond: 0, endSecond: 10 });
  });

  it("takes a form whose file comes first, and one in pieces without a length", async () => {
    for (const file of [await talk(), await toFile(Readable.from([silentWav(3)]), "talk.wav")]) {
      const fields = { language: "en", temperature: 0, prompt: "Words", timestamp_granularities: ["word" as const] };
      const heard = await client.audio.transcriptions.create({ file, model: "acme/hear", ...fields });
      expect(heard.text).toContain("words");
    }
  });

  it("answers a request for a stream whole, of which the client gets events", async () => {
    const stream = await client.audio.transcriptions.create({ file: await talk(), model: "acme/hear", stream: true });
    const types: string[] = [];
    let text = "";
    for await (const event of stream) {
      types.push(event.type);
      if (event.type !== "transcript.text.done") continue;
      text = event.text;
      expect(event.usage).toMatchObject({ type: "duration" });
    }
    expect(types).toEqual(["transcript.text.delta", "transcript.text.done"]);
    expect(text).toBe(`${sentence}\n`);
  });

  it("translates", async () => {
    const heard = await client.audio.translations.create({ file: await talk(), model: "acme/translate" });
    expect(heard.text).toContain("words");
  });

  it.each([
    ["no sound", Buffer.from("This is a letter.")],
    ["a WAV of nothing", silentWav(0)],
    ["half a head", silentWav(1).subarray(0, 20)],
  ])("says that a file is %s, and charges nothing", async (_what, bytes) => {
    const file = await toFile(bytes, "talk.wav");
    const call = client.audio.transcriptions.create({ file, model: "acme/hear" });
    await expect(call).rejects.toMatchObject({ status: 400, code: "upstream_rejected" });
    expect(await lastEvent(server)).toMatchObject({ chargedMicro: 0, attempts: { length: 1 } });
  });

  it.each([
    ["temperature", "warm"],
    ["audio_ctx", "99999999"],
    ["vad", "true"],
  ])("is not asked with a %s by which it would fail", async (name, value) => {
    const form = new FormData();
    for (const [field, text] of Object.entries({ model: "acme/hear", [name]: value })) form.append(field, text);
    form.append("file", await talk());
    const headers = { authorization: "Bearer sk-pro" };
    const response = await fetch(`${server.baseURL}/audio/transcriptions`, { method: "POST", headers, body: form });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: name } });
    expect(await lastEvent(server)).toMatchObject({ attempts: [] });
  });

  it("is not asked about an empty file", async () => {
    const call = client.audio.transcriptions.create({
      file: await toFile(Buffer.alloc(0), "a.wav"),
      model: "acme/hear",
    });
    await expect(call).rejects.toMatchObject({ status: 400, param: "file" });
  });

  it("hears 25 MB, and goes on when a client leaves", async () => {
    const file = await toFile(silentWav(780), "long.wav");
    const heard = await client.audio.transcriptions.create({
      file,
      model: "acme/hear",
      response_format: "verbose_json",
    });
    expect(heard.duration).toBe(780);
    expect(await lastEvent(server)).toMatchObject({ usageSource: "provider", chargedMicro: 78_000 });

    const left = new AbortController();
    const seen = server.attempts();
    const call = client.audio.transcriptions.create({ file, model: "acme/hear" }, { signal: left.signal });
    await expect.poll(() => server.attempts()).toBe(seen + 1);
    left.abort();
    await expect(call).rejects.toThrow();
    const next = await client.audio.transcriptions.create({ file: await talk(), model: "acme/hear" });
    expect(next.text).toBe(`${sentence}\n`);
  });
});
