import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCohere } from "@ai-sdk/cohere";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, rerank, streamText, experimental_transcribe as transcribe } from "ai";
import { CohereClient, CohereClientV2 } from "cohere-ai";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { llamaCpp } from "../../../src/providers/local-presets.js";
import { type ClientServer, startServer } from "../clients/start-server.js";
import { earModel } from "./ear-model.js";
import { lastEvent } from "./last-event.js";
import { rankModel } from "./rank-model.js";
import { silentWav } from "./silent-wav.js";
import { programOf, type ServerProcess, startServerProcess } from "./start-server-process.js";

const program = programOf("LLAMA_SERVER", "Set it to llama.cpp's `llama-server` to test a real one.");

const example = new URL("../../../examples/local-model/", import.meta.url);

const letters: Model = {
  id: "acme/small",
  type: "chat",
  contextLength: 1024,
  maxOutputTokens: 64,
  price: { input: 1, output: 10 },
  upstream: { provider: "letters", model: "letters" },
};
const ranks: Model = {
  id: "acme/rank",
  type: "rerank",
  contextLength: 100_000,
  price: { input: 1 },
  upstream: { provider: "ranks", model: "ranks" },
};
const searches: Model = { ...ranks, id: "acme/search", price: { searches: 2 } };
const embeds: Model = {
  ...ranks,
  id: "acme/embed",
  type: "embedding",
  upstream: { provider: "embeds", model: "embeds" },
};

const hears: Model = {
  id: "acme/hear",
  type: "transcription",
  maxOutputTokens: 3000,
  price: { input: 1, output: 10 },
  upstream: { provider: "hears", model: "hears" },
};

/** Of an image in PNG. */
const pixel = `data:image/png;base64,${Buffer.from("\x89PNG\r\n\x1a\n", "latin1").toString("base64")}`;

describe.skipIf(program === undefined)("llama-server behind the gateway", () => {
  let folder: string;
  const processes: ServerProcess[] = [];
  let server: ClientServer;
  let client: OpenAI;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "infergate-llama-"));
    // The example is no part of the tests' own program.
    const load = async (name: string) => import(/* @vite-ignore */ new URL(name, example).href);
    const { letterModel, letterWidth } = await load("letter-model.ts");
    const { toGguf } = await load("gguf.ts");
    const text = await readFile(new URL("../../../README.md", example), "utf8");
    const write = async (name: string, model: Buffer) => {
      const path = join(folder, `${name}.gguf`);
      await writeFile(path, model);
      return path;
    };
    const paths = {
      letters: await write("letters", letterModel(text)),
      ranks: await write("ranks", rankModel(toGguf)),
      ears: await write("ears", earModel(toGguf, letterWidth(text))),
    };
    const start = async (path: string, flags: readonly string[]) => {
      const common = ["--threads", "1", "--no-warmup", "--model", path];
      const started = await startServerProcess(program ?? "", [...common, ...flags]);
      processes.push(started);
      return llamaCpp({ baseURL: `${started.origin}/v1` });
    };
    server = await startServer({
      models: [letters, ranks, searches, embeds, hears],
      providers: {
        letters: await start(paths.letters, ["--parallel", "4", "--ctx-size", "4096"]),
        ranks: await start(paths.ranks, ["--reranking"]),
        hears: await start(paths.letters, ["--mmproj", paths.ears, "--parallel", "1", "--ctx-size", "2048"]),
        embeds: await start(paths.letters, ["--embeddings", "--pooling", "mean", "--ubatch-size", "256"]),
      },
    });
    client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 });
  });
  afterAll(async () => {
    await server?.checkBooks();
    await server?.close();
    for (const started of processes) await started.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** What the server reports is of the first choice; the client sees, and pays, an estimate of all of them. */
  async function expectEstimate(usage: OpenAI.CompletionUsage | undefined, first: { input: number; output: number }) {
    const event = await lastEvent(server);
    expect(event?.usageSource).toBe("estimated");
    const { input = 0, output = 0 } = event?.tokens ?? {};
    expect(usage).toMatchObject({ prompt_tokens: input, completion_tokens: output });
    expect(input).toBeGreaterThanOrEqual(first.input);
    expect(output).toBeGreaterThan(first.output);
    expect(event?.chargedMicro).toBe(input + 10 * output);
  }

  async function chunksOf<Chunk>(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
    const chunks: Chunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  }

  const greedy = { model: "acme/small", temperature: 0 };

  describe("completions", () => {
    it("are whole, streamed the same, and charged to the token", async () => {
      const asked = { ...greedy, prompt: "The gateway", max_tokens: 12 };
      const whole = await client.completions.create(asked);
      expect(whole).toMatchObject({
        object: "text_completion",
        model: "acme/small",
        id: expect.stringMatching(/^cmpl-/),
      });
      expect(whole.choices).toMatchObject([{ index: 0, text: expect.stringMatching(/./), logprobs: null }]);
      const { prompt_tokens = 0, completion_tokens = 0 } = whole.usage ?? {};
      expect([prompt_tokens, completion_tokens]).toEqual([13, 12]);
      expect(await lastEvent(server)).toMatchObject({ usageSource: "provider", chargedMicro: 13 + 10 * 12 });

      const stream_options = { include_usage: true };
      const chunks = await chunksOf(await client.completions.create({ ...asked, stream: true, stream_options }));
      expect(chunks.map(({ choices }) => choices[0]?.text ?? "").join("")).toBe(whole.choices[0]?.text);
      expect(chunks.filter(({ usage }) => usage).at(-1)?.usage).toMatchObject({ prompt_tokens, completion_tokens });
      expect(await lastEvent(server)).toMatchObject({ usageSource: "provider", chargedMicro: 13 + 10 * 12 });
    });

    it("take tokens, one list and several", async () => {
      const one = await client.completions.create({ ...greedy, prompt: [1, 270, 280], max_tokens: 3 });
      expect(one.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 3 });
      const lists = [
        [1, 270, 280],
        [1, 290],
      ];
      const several = await client.completions.create({ ...greedy, prompt: lists, max_tokens: 3 });
      expect(several.choices.map(({ index }) => index)).toEqual([0, 1]);
      expect(several.choices[0]?.text).toBe(one.choices[0]?.text);
      await expect(client.completions.create({ ...greedy, prompt: [999_999] })).rejects.toMatchObject({ status: 400 });
    });

    it("of several prompts and choices are charged for all of them, though the server reports the first alone", async () => {
      const asked = { ...greedy, prompt: ["The gateway", "A"], n: 2, max_tokens: 6 };
      const stream_options = { include_usage: true };
      const chunks = await chunksOf(await client.completions.create({ ...asked, stream: true, stream_options }));
      const texts = ["", "", "", ""];
      for (const { choices } of chunks) for (const { index, text } of choices) texts[index] += text;
      const reports = chunks.filter(({ usage }) => usage);
      expect(reports).toMatchObject([{ choices: [], usage: { prompt_tokens: 16, completion_tokens: 24 } }]);
      expect(await lastEvent(server)).toMatchObject({ usageSource: "provider", chargedMicro: 16 + 240 });

      const whole = await client.completions.create(asked);
      expect(whole.choices.map(({ text }) => text)).toEqual(texts);
      await expectEstimate(whole.usage, { input: 13, output: 6 });
    });

    it("without room for an answer cost the token that the server writes all the same", async () => {
      const { usage } = await client.completions.create({ ...greedy, prompt: "The", max_tokens: 0 });
      expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 1 });
      expect(await lastEvent(server)).toMatchObject({ chargedMicro: 15 });
    });

    it("without a cap have 16 tokens, and with null the model's", async () => {
      const usual = await client.completions.create({ ...greedy, prompt: "The" });
      expect(usual.usage?.completion_tokens).toBe(16);
      const most = await client.completions.create({ ...greedy, prompt: "The", max_tokens: null });
      expect(most.usage?.completion_tokens).toBe(64);
    });

    it("have log probabilities in OpenAI's words", async () => {
      const asked = { ...greedy, prompt: "The", max_tokens: 4, logprobs: 2 };
      const { choices } = await client.completions.create(asked);
      const { text = "", logprobs } = choices[0] ?? {};
      expect(logprobs?.tokens?.join("")).toBe(text);
      expect(logprobs?.token_logprobs?.every((chance) => chance <= 0)).toBe(true);
      expect(logprobs?.top_logprobs?.map((top) => Object.keys(top).length)).toEqual([2, 2, 2, 2]);
      expect(logprobs?.text_offset).toEqual([0, 1, 2, 3]);
      const chunks = await chunksOf(await client.completions.create({ ...asked, stream: true }));
      const streamed = chunks.flatMap((chunk) => chunk.choices.flatMap((choice) => choice.logprobs ?? []));
      expect(streamed.flatMap(({ text_offset = [] }) => text_offset)).toEqual([0, 1, 2, 3]);
      expect(streamed.flatMap(({ tokens = [] }) => tokens)).toEqual(logprobs?.tokens);

      const model = createOpenAI({ baseURL: server.baseURL, apiKey: "sk-pro" }).completion("acme/small");
      const providerOptions = { openai: { logprobs: 1 } };
      const call = { model, prompt: "The", maxOutputTokens: 5, temperature: 0, providerOptions, maxRetries: 0 };
      const result = await generateText(call);
      expect(result.providerMetadata?.["openai"]?.["logprobs"]).toMatchObject({ tokens: { length: 5 } });
      expect(await streamText(call).text).toBe(result.text);
    });

    it("come to the AI SDK's other provider", async () => {
      const options = { name: "acme", baseURL: server.baseURL, apiKey: "sk-pro", includeUsage: true };
      const model = createOpenAICompatible(options).completionModel("acme/small");
      const whole = await generateText({ model, prompt: "Hello", maxOutputTokens: 9, temperature: 0, maxRetries: 0 });
      const streamed = streamText({ model, prompt: "Hello", maxOutputTokens: 9, temperature: 0, maxRetries: 0 });
      expect(await streamed.text).toBe(whole.text);
      expect(await streamed.usage).toMatchObject({ inputTokens: whole.usage.inputTokens, outputTokens: 9 });
    });

    it.each([
      ["echo", { echo: true }],
      ["suffix", { suffix: "." }],
    ])("refuse %s, which the server would leave out without a word", async (param, members) => {
      const call = client.completions.create({ ...greedy, prompt: "The", ...members });
      await expect(call).rejects.toMatchObject({ status: 400, code: "unsupported_parameter", param });
      const plain = { echo: false, suffix: null, best_of: 1 };
      await client.completions.create({ ...greedy, prompt: "The", max_tokens: 1, ...plain });
    });

    it("say what the server refuses", async () => {
      const many = client.completions.create({ ...greedy, prompt: "The", n: 9 });
      await expect(many).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/'n'/) });
      const nothing = client.completions.create({ ...greedy, prompt: null });
      await expect(nothing).rejects.toMatchObject({ status: 400, code: "upstream_rejected" });
      const long = client.completions.create({ ...greedy, prompt: "a".repeat(1023) });
      await expect(long).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
    });

    it("stop when the client leaves, and the next is served", async () => {
      const asked = { ...greedy, prompt: ["The", "A"], n: 2, max_tokens: null };
      const stream = await client.completions.create({ ...asked, stream: true });
      for await (const _chunk of stream) break;
      const next = await client.completions.create({ ...greedy, prompt: "The", max_tokens: 2 });
      expect(next.choices).toHaveLength(1);
      await server.checkBooks();
    });
  });

  it("several choices of a chat are charged, whole and streamed", async () => {
    const messages = [{ role: "user" as const, content: "Hello!" }];
    const asked = { ...greedy, messages, n: 3, max_tokens: 6 };
    const stream_options = { include_usage: true };
    const chunks = await chunksOf(await client.chat.completions.create({ ...asked, stream: true, stream_options }));
    const reports = chunks.filter(({ usage }) => usage);
    expect(reports).toMatchObject([{ choices: [], usage: { completion_tokens: 18 } }]);
    const input = reports[0]?.usage?.prompt_tokens ?? 0;
    expect(await lastEvent(server)).toMatchObject({ usageSource: "provider", chargedMicro: input + 180 });

    const whole = await client.chat.completions.create(asked);
    expect(whole.choices).toHaveLength(3);
    await expectEstimate(whole.usage, { input, output: 6 });
  });

  it.each([
    ["tools without a type", { tools: [{ function: { name: "a" } }] }],
    ["an image", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: pixel } }] }] }],
  ])("%s, which the server calls its own failure, is the client's mistake", async (_what, members) => {
    const messages = [{ role: "user", content: "Hello!" }];
    const call = client.post("/chat/completions", { body: { ...greedy, messages, ...members } });
    await expect(call).rejects.toMatchObject({ status: 400, code: "upstream_rejected" });
    expect(await lastEvent(server)).toMatchObject({ chargedMicro: 0, attempts: { length: 1 } });
  });

  it("a JSON schema holds", async () => {
    const schema = {
      type: "object",
      properties: { a: { enum: ["x", "y"] } },
      required: ["a"],
      additionalProperties: false,
    };
    const response_format = { type: "json_schema" as const, json_schema: { name: "letter", strict: true, schema } };
    const messages = [{ role: "user" as const, content: "Hello!" }];
    const { choices } = await client.chat.completions.create({ ...greedy, messages, response_format, max_tokens: 60 });
    expect(["x", "y"]).toContain(JSON.parse(choices[0]?.message.content ?? "").a);
  });

  it("a response that its cap cuts is incomplete, whole and streamed, and goes on", async () => {
    const asked = { ...greedy, input: "Hello!", max_output_tokens: 8 };
    const whole = await client.responses.create(asked);
    expect(whole).toMatchObject({ status: "incomplete", usage: { output_tokens: 8 } });
    const events = await chunksOf(await client.responses.create({ ...asked, stream: true }));
    const last = events.at(-1);
    expect(last?.type === "response.incomplete" && last.response.output).toMatchObject([
      { content: [{ text: whole.output_text }] },
    ]);
    const next = await client.responses.create({ ...asked, previous_response_id: whole.id });
    expect(next.usage?.input_tokens).toBeGreaterThan(whole.usage?.input_tokens ?? 0);
  });

  it("messages are whole and streamed", async () => {
    const anthropic = new Anthropic({ baseURL: server.baseURL.replace("/v1", ""), apiKey: "sk-pro", maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "Hello!" }];
    const asked = { ...greedy, system: "Be brief.", messages, max_tokens: 8 };
    const whole = await anthropic.messages.create(asked);
    expect(whole).toMatchObject({ stop_reason: "max_tokens", usage: { output_tokens: 8 } });
    const streamed = await anthropic.messages.stream(asked).finalMessage();
    expect(streamed).toMatchObject({ stop_reason: "max_tokens", content: whole.content });
    const long = anthropic.messages.create({ ...asked, messages: [{ role: "user", content: "a".repeat(1100) }] });
    await expect(long).rejects.toMatchObject({ status: 400, message: expect.stringContaining("prompt is too long") });
  });

  describe("rankings", () => {
    const query = "a cat";
    const documents = ["dog", "a cat sat", "zebra 9"];
    const aiSDK = () => createCohere({ baseURL: server.baseURL, apiKey: "sk-pro" });

    async function post(members: object, version = "v1") {
      const url = server.baseURL.replace("v1", `${version}/rerank`);
      const response = await fetch(url, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/rank", query, documents, ...members }),
      });
      // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
      return { status: response.status, json: (await response.json()) as any };
    }

    it("come to the AI SDK and to both of Cohere's clients in one order", async () => {
      const model = aiSDK().reranking("acme/rank");
      const { ranking, rerankedDocuments } = await rerank({ model, query, documents, maxRetries: 0 });
      const order = ranking.map(({ originalIndex }) => originalIndex);
      expect([...order].sort()).toEqual([0, 1, 2]);
      expect(rerankedDocuments[0]).toBe(documents[order[0] ?? 0]);

      const host = { token: "sk-pro", environment: server.baseURL.replace("/v1", "") };
      const asked = { model: "acme/rank", query, documents };
      for (const cohere of [new CohereClientV2(host), new CohereClient(host)]) {
        const { results, meta } = await cohere.rerank(asked, { maxRetries: 0 });
        expect(results.map(({ index }) => index)).toEqual(order);
        expect(meta?.apiVersion?.version).toBe("2");
      }
    });

    it.each([
      [0, 3],
      [null, 3],
      [9, 3],
      [2, 2],
    ])("are as long as they were asked for: top_n %s", async (top_n, length) => {
      for (const version of ["v1", "v2"]) {
        const { json } = await post({ top_n }, version);
        expect(json.results).toHaveLength(length);
      }
    });

    it("have the client's documents, which may be objects", async () => {
      const objects = documents.map((text) => ({ text, from: "a test" }));
      const { json } = await post({ documents: objects, return_documents: true });
      for (const { index, document } of json.results) expect(document).toEqual(objects[index]);
    });

    it("are charged by the tokens that the server counts, or by searches", async () => {
      const { json } = await post({});
      expect(json.usage).toEqual({ prompt_tokens: 34, total_tokens: 34 });
      expect(await lastEvent(server)).toMatchObject({ usageSource: "provider", chargedMicro: 34 });
      const host = { token: "sk-pro", environment: server.baseURL.replace("/v1", "") };
      const asked = { model: "acme/search", query, documents };
      const { meta } = await new CohereClientV2(host).rerank(asked, { maxRetries: 0 });
      expect(meta?.billedUnits?.searchUnits).toBe(1);
      expect(await lastEvent(server)).toMatchObject({ tokens: { searches: 1 }, chargedMicro: 2000 });
    });

    it("of a document longer than the server reads are the client's mistake, and cost nothing", async () => {
      const { status, json } = await post({ documents: ["dog", "a".repeat(900)] });
      expect([status, json.error.code]).toEqual([400, "context_length_exceeded"]);
      expect(json.message).toContain("too large to process");
      expect(await lastEvent(server)).toMatchObject({ chargedMicro: 0 });
      expect((await post({})).status).toBe(200);
    });
  });

  describe("transcripts", () => {
    const file = () => toFile(silentWav(11), "talk.wav", { type: "audio/wav" });
    const asked = { model: "acme/hear", temperature: 0 };

    it("are whole and streamed, and charged by the tokens that the server counts", async () => {
      const whole = await client.audio.transcriptions.create({ ...asked, file: await file() });
      expect(whole).toMatchObject({ text: expect.stringMatching(/./), usage: { type: "tokens" } });
      const { input_tokens = 0, output_tokens = 0 } = whole.usage?.type === "tokens" ? whole.usage : {};
      expect(input_tokens).toBeGreaterThan(750);
      const charge = { usageSource: "provider", chargedMicro: input_tokens + 10 * output_tokens };
      expect(await lastEvent(server)).toMatchObject(charge);

      const stream = await client.audio.transcriptions.create({ ...asked, file: await file(), stream: true });
      const events = await chunksOf(stream);
      const deltas = events.map((event) => (event.type === "transcript.text.delta" ? event.delta : ""));
      expect(deltas.length).toBeGreaterThan(2);
      expect(events.at(-1)).toMatchObject({ type: "transcript.text.done", text: deltas.join("") });
      expect(deltas.join("")).toBe(whole.text);
      expect(await lastEvent(server)).toMatchObject(charge);

      const text = await client.audio.transcriptions.create({ ...asked, file: await file(), response_format: "text" });
      expect(text).toBe(`${whole.text}\n`);
    });

    it("come to the AI SDK", async () => {
      const model = createOpenAI({ baseURL: server.baseURL, apiKey: "sk-pro" }).transcription("acme/hear");
      const { text } = await transcribe({ model, audio: silentWav(2), maxRetries: 0 });
      expect(text).toMatch(/./);
    });

    it.each(["verbose_json", "srt"] as const)("are no %s: the server knows no times", async (response_format) => {
      const call = client.audio.transcriptions.create({ ...asked, file: await file(), response_format });
      await expect(call).rejects.toMatchObject({
        status: 400,
        code: "upstream_rejected",
        message: expect.stringMatching(/'json'/),
      });
    });

    it("of what is no sound are the client's mistake", async () => {
      const letter = await toFile(Buffer.from("This is a letter."), "talk.wav");
      const call = client.audio.transcriptions.create({ ...asked, file: letter });
      await expect(call).rejects.toMatchObject({
        status: 400,
        code: "upstream_rejected",
        message: expect.stringMatching(/Failed to load/),
      });
      expect(await lastEvent(server)).toMatchObject({ chargedMicro: 0, attempts: { length: 1 } });
    });
  });

  it("embeddings are charged by the token; a text longer than the server reads is the client's mistake", async () => {
    const input = ["The", "A"];
    const { data, usage } = await client.embeddings.create({ model: "acme/embed", input });
    expect(data.map(({ index }) => index)).toEqual([0, 1]);
    expect(data[0]?.embedding.some((value) => value !== 0)).toBe(true);
    expect(await lastEvent(server)).toMatchObject({ usageSource: "provider", chargedMicro: usage.prompt_tokens });
    const long = client.embeddings.create({ model: "acme/embed", input: "a".repeat(300) });
    await expect(long).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
  });
});
