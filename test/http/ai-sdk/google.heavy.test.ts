import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { wholeAnswer } from "../../../src/testing.js";
import { collect } from "../../e2e/clients/collect.js";
import { imageBase64, weatherTool } from "../../e2e/clients/samples.js";
import { sampleVector } from "../../support/embedding-samples.js";
import { embeddingModel, smallModel } from "../../support/test-gateway.js";
import { googleContent, googleError, googleStream } from "./native-answers.js";
import { google, googleEmbedding, type ModelServer, withModel } from "./start-model.js";

type Request = OpenAI.ChatCompletionCreateParamsNonStreaming;

const hello: Request = { model: "acme/small", messages: [{ role: "user", content: "Hello!" }] };
const gemini = { name: "gemini-2.5-flash" };
const usage = {
  prompt_tokens: 20,
  completion_tokens: 9,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 4 },
};

function streamed(server: ModelServer, request: Request = hello) {
  return server.client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
}

describe.concurrent("Google's models", () => {
  it(
    "answer whole, with thoughts and usage",
    withModel(
      google,
      async (server) => {
        server.native.reply(
          wholeAnswer(googleContent([{ text: "Hm.", thought: true }, { text: "Hello " }, { text: "world" }], "STOP")),
        );
        const answer = await server.client.chat.completions.create({
          ...hello,
          reasoning_effort: "low",
          seed: 7,
          top_p: 0.5,
          stop: "END",
          max_tokens: 700,
        });
        expect(answer.choices[0]).toMatchObject({
          finish_reason: "stop",
          message: { content: "Hello world", reasoning_content: "Hm." },
        });
        expect(answer.usage).toMatchObject(usage);
        expect(server.events[0]?.tokens).toEqual({ input: 20, cachedInput: 8, output: 9, reasoning: 4 });
        const { url, headers, json } = server.native.lastRequest;
        expect(url).toBe("/v1beta/models/gemini-2.5-flash:generateContent");
        expect(headers["x-goog-api-key"]).toBe("google-secret");
        expect(json.generationConfig).toMatchObject({
          seed: 7,
          topP: 0.5,
          stopSequences: ["END"],
          maxOutputTokens: 700,
          thinkingConfig: { thinkingBudget: 1024, includeThoughts: true },
        });
      },
      gemini,
    ),
  );

  it(
    "answer as a stream",
    withModel(
      google,
      async (server) => {
        server.native.reply(
          googleStream([
            googleContent([{ text: "Let me see.", thought: true }]),
            googleContent([{ text: "Hel" }]),
            googleContent([{ text: "lo" }], "MAX_TOKENS"),
          ]),
        );
        const chunks = await collect(await streamed(server));
        const deltas = chunks.map(({ choices }) => (choices[0]?.delta ?? {}) as Record<string, unknown>);
        expect(deltas[0]).toEqual({ role: "assistant", reasoning_content: "Let me see." });
        expect(deltas.map((delta) => delta["content"] ?? "").join("|")).toContain("Hel|lo");
        expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("length");
        expect(chunks.at(-1)?.usage).toMatchObject(usage);
        expect(server.native.lastRequest.url).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
      },
      gemini,
    ),
  );

  it.each([false, true])("call tools, and get the signature of a call back (stream: %s)", async (stream) => {
    await withModel(
      google,
      async (server) => {
        const parts = [{ functionCall: { name: "weather", args: { city: "Paris" } }, thoughtSignature: "sig-1" }];
        server.native.replyOnce(
          stream ? googleStream([googleContent(parts, "STOP")]) : wholeAnswer(googleContent(parts, "STOP")),
        );
        const request: Request = { ...hello, tools: [weatherTool], tool_choice: "auto" };
        const calls = stream
          ? (await collect(await streamed(server, request))).flatMap(
              ({ choices }) => choices[0]?.delta.tool_calls ?? [],
            )
          : ((await server.client.chat.completions.create(request)).choices[0]?.message.tool_calls ?? []);
        const text = calls.map((call) => ("function" in call ? (call.function?.arguments ?? "") : "")).join("");
        expect(text).toBe('{"city":"Paris"}');
        const [first] = calls;
        expect(first).toMatchObject({
          type: "function",
          id: expect.any(String),
          function: { name: "weather" },
          extra_content: { google: { thought_signature: "sig-1" } },
        });

        server.native.replyOnce(wholeAnswer(googleContent([{ text: "Sunny." }], "STOP")));
        const call = { ...first, function: { name: "weather", arguments: text } };
        await server.client.chat.completions.create({
          ...request,
          messages: [
            ...request.messages,
            { role: "assistant", content: null, tool_calls: [call as OpenAI.ChatCompletionMessageFunctionToolCall] },
            { role: "tool", tool_call_id: String(first?.id), content: "sunny" },
          ],
        });
        expect(server.native.lastRequest.json.contents).toMatchObject([
          { role: "user", parts: [{ text: "Hello!" }] },
          {
            role: "model",
            parts: [{ functionCall: { name: "weather", args: { city: "Paris" } }, thoughtSignature: "sig-1" }],
          },
          { role: "user", parts: [{ functionResponse: { name: "weather", response: { content: "sunny" } } }] },
        ]);
      },
      { name: "gemini-3-pro-preview" },
    )();
  });

  it(
    "take images, audio and instructions that come late, and answer with images",
    withModel(
      google,
      async (server) => {
        server.native.reply(
          wholeAnswer(
            googleContent([{ text: "A cat." }, { inlineData: { mimeType: "image/png", data: imageBase64 } }], "STOP"),
          ),
        );
        const answer = await server.client.chat.completions.create({
          model: "acme/small",
          messages: [
            {
              role: "user",
              content: [
                { type: "image_url", image_url: { url: `data:image/png;base64,${imageBase64}` } },
                { type: "input_audio", input_audio: { data: imageBase64, format: "mp3" } },
              ],
            },
            { role: "system", content: "Be brief." },
          ],
        });
        const { json } = server.native.lastRequest;
        expect(json.systemInstruction.parts).toEqual([{ text: "Be brief." }]);
        expect(json.contents[0].parts).toEqual([
          { inlineData: { mimeType: "image/png", data: imageBase64 } },
          { inlineData: { mimeType: "audio/mpeg", data: imageBase64 } },
        ]);
        expect(answer.choices[0]?.message).toMatchObject({
          content: "A cat.",
          images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${imageBase64}` } }],
        });
      },
      gemini,
    ),
  );

  it(
    "answer in JSON, by a schema or without",
    withModel(
      google,
      async (server) => {
        server.native.reply(wholeAnswer(googleContent([{ text: "{}" }], "STOP")));
        await server.client.chat.completions.create({ ...hello, response_format: { type: "json_object" } });
        expect(server.native.lastRequest.json.generationConfig).toMatchObject({ responseMimeType: "application/json" });
        const schema = { type: "object", properties: { a: { type: "number" } } };
        await server.client.chat.completions.create({
          ...hello,
          response_format: { type: "json_schema", json_schema: { name: "thing", schema } },
        });
        expect(server.native.lastRequest.json.generationConfig).toMatchObject({
          responseMimeType: "application/json",
          responseSchema: { type: "object", properties: { a: { type: "number" } } },
        });
      },
      gemini,
    ),
  );

  it.each([
    ["SAFETY", "content_filter"],
    ["MAX_TOKENS", "length"],
    ["OTHER", "stop"],
  ])("end by %s as %s", async (reason, expected) => {
    await withModel(
      google,
      async (server) => {
        server.native.replyOnce(wholeAnswer(googleContent([{ text: "Hm" }], reason)));
        const answer = await server.client.chat.completions.create(hello);
        expect(answer.choices[0]?.finish_reason).toBe(expected);
        server.native.replyOnce(googleStream([googleContent([{ text: "Hm" }], reason)]));
        const chunks = await collect(await streamed(server));
        expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe(expected);
      },
      gemini,
    )();
  });

  it(
    "fail when they say so, and when nobody says how a stream ended",
    withModel(
      google,
      async (server) => {
        server.native.replyOnce(wholeAnswer(googleContent([], "MALFORMED_FUNCTION_CALL")));
        await expect(server.client.chat.completions.create(hello)).rejects.toMatchObject({ status: 502 });
        server.native.replyOnce(googleStream([googleContent([{ text: "Once" }], "MALFORMED_FUNCTION_CALL")]));
        await expect(streamed(server).then(collect)).rejects.toMatchObject({ code: "bad_gateway" });
        server.native.replyOnce(googleStream([googleContent([{ text: "Once" }])]));
        await expect(streamed(server).then(collect)).rejects.toMatchObject({ code: "bad_gateway" });
      },
      gemini,
    ),
  );

  it.each([
    [400, "INVALID_ARGUMENT", "Unable to process input image.", 400, "upstream_rejected"],
    [
      400,
      "INVALID_ARGUMENT",
      "The input token count (2000000) exceeds the maximum number of tokens allowed (1048575).",
      400,
      "context_length_exceeded",
    ],
    [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", 502, "bad_gateway"],
    [403, "PERMISSION_DENIED", "Permission denied.", 502, "bad_gateway"],
    [404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta", 502, "bad_gateway"],
    [429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", 429, "rate_limit_exceeded"],
    [503, "UNAVAILABLE", "The model is overloaded.", 502, "bad_gateway"],
  ] as const)("fail with %i %s (%s) as %i %s", async (status, name, message, expected, code) => {
    await withModel(
      google,
      async (server) => {
        server.native.reply(wholeAnswer(googleError(status, name, message), { status }));
        for (const call of [server.client.chat.completions.create(hello), streamed(server)]) {
          await expect(call).rejects.toMatchObject({ status: expected, code });
        }
      },
      gemini,
    )();
  });

  it.each([
    [
      "a URL",
      {
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "http://127.0.0.1/cat.png" } }] }],
      },
      "messages[0].content[0].image_url.url",
    ],
    ["many answers", { n: 2 }, "n"],
    ["logprobs", { logprobs: true }, "logprobs"],
    ["functions", { functions: [{ name: "f" }] }, "functions"],
    ["audio", { modalities: ["text", "audio"] }, "modalities"],
    [
      "a part of an unknown type",
      { messages: [{ role: "user", content: [{ type: "video_url" }] }] },
      "messages[0].content[0].type",
    ],
    ["an unknown role", { messages: [{ role: "ghost", content: "Boo" }] }, "messages[0].role"],
    [
      "an answer to no call",
      { messages: [{ role: "tool", tool_call_id: "c9", content: "?" }] },
      "messages[0].tool_call_id",
    ],
    [
      "arguments that are no JSON",
      {
        messages: [
          { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{" } }] },
        ],
      },
      "messages[0].tool_calls[0].function.arguments",
    ],
    ["a tool of another kind", { tools: [{ type: "custom", custom: { name: "x" } }] }, "tools[0].type"],
    [
      "a file by its id",
      { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "f" } }] }] },
      "messages[0].content[0].file.file_data",
    ],
    ...[
      ["a video in the place of an image", "data:video/mp4;base64,AAAA"],
      ["a PDF in the place of an image", "data:application/pdf;base64,AAAA"],
      ["an image that is no base64", "data:image/png;base64,file-abc"],
      ["an address of a video", "https://www.youtube.com/watch?v=abc"],
      ["a file in the operator's account", "https://generativelanguage.googleapis.com/v1beta/files/abc"],
      ["a bucket", "gs://bucket/a.png"],
    ].map(([name = "", url]): [string, object, string] => [
      name,
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] },
      "messages[0].content[0].image_url.url",
    ]),
    ...[
      "file-abc",
      "https://audio.test/a.wav",
      "https://generativelanguage.googleapis.com/v1beta/files/abc",
      "AAA-",
      "",
    ].map((data): [string, object, string] => [
      `'${data}' as audio`,
      { messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data, format: "wav" } }] }] },
      "messages[0].content[0].input_audio.data",
    ]),
    ...[
      "file-abc",
      "assistant-abc",
      "https://youtu.be/abc",
      "https://generativelanguage.googleapis.com/v1beta/files/abc",
    ].map((data): [string, object, string] => [
      `'${data}' as a file`,
      { messages: [{ role: "user", content: [{ type: "file", file: { file_data: data } }] }] },
      "messages[0].content[0].file.file_data",
    ]),
  ])("refuse %s, before any call", async (_name, body, param) => {
    await withModel(
      google,
      async (server) => {
        const call = server.client.chat.completions.create({ ...hello, ...body } as unknown as Request);
        await expect(call).rejects.toMatchObject({ status: 400, param });
        expect(server.native.requests).toHaveLength(0);
        expect(server.events).toMatchObject([{ chargedMicro: 0, endReason: "upstream_refused" }]);
        expect(server.warnings).toEqual([]);
      },
      // The gateway lets nobody ask for audio by itself.
      { ...gemini, model: { ...smallModel, allowMembers: ["modalities"] } },
    )();
  });
});

describe.concurrent("Google's embedding models", () => {
  const embedding = { name: "gemini-embedding-001", model: embeddingModel };

  it(
    "embed one, some, and as many as they take at once",
    withModel(
      googleEmbedding,
      async (server) => {
        server.native.reply((request, response) => {
          const { requests, content } = request.json;
          const vector = ({ parts }: { parts: { text: string }[] }) => ({ values: sampleVector(parts[0]?.text) });
          const answer = requests
            ? { embeddings: requests.map((one: { content: { parts: { text: string }[] } }) => vector(one.content)) }
            : { embedding: vector(content) };
          return wholeAnswer(answer)(request, response);
        });
        const { client, native } = server;
        const one = await client.embeddings.create({ model: "acme/embed", input: "one", dimensions: 3 });
        expect(one.data[0]?.embedding).toEqual(sampleVector("one"));
        expect(native.lastRequest.url).toBe("/v1beta/models/gemini-embedding-001:embedContent");
        expect(native.lastRequest.json.outputDimensionality).toBe(3);
        const values = Array.from({ length: 450 }, (_, index) => `input ${index}`);
        const many = await client.embeddings.create({ model: "acme/embed", input: values });
        expect(many.data.map((item) => item.embedding)).toEqual(values.map(sampleVector));
        expect(
          native.requests
            .slice(1)
            .map(({ json }) => json.requests.length)
            .toSorted(),
        ).toEqual([100, 100, 100, 100, 50]);
        // Google does not say what it has counted.
        expect(many.usage.prompt_tokens).toBeGreaterThan(450);
        expect(server.events[1]).toMatchObject({ usageSource: "estimated", tokens: { output: 0 } });
        const tokens = client.embeddings.create({ model: "acme/embed", input: [[1, 2]] });
        await expect(tokens).rejects.toMatchObject({ status: 400, param: "input" });
      },
      embedding,
    ),
  );

  it(
    "fail as their server does",
    withModel(
      googleEmbedding,
      async (server) => {
        server.native.reply(wholeAnswer(googleError(429, "RESOURCE_EXHAUSTED", "Slow down."), { status: 429 }));
        const call = server.client.embeddings.create({ model: "acme/embed", input: "a" });
        await expect(call).rejects.toMatchObject({ status: 429, code: "rate_limit_exceeded" });
      },
      embedding,
    ),
  );
});
