import OpenAI, { APIError } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defaultOperations } from "../../../src/providers/upstream-provider.js";
import { describeUpstreamProvider } from "../../../src/testing/describe-upstream-provider.js";
import { eventStream, wholeAnswer } from "../../../src/testing/fake-upstream/fake-responses.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing/fake-upstream/fake-upstream.js";
import { type ClientServer, startServer } from "../../e2e/clients/start-server.js";
import { azureDatedSample, azureSample } from "./dialects/azure-openai.js";
import { deepSeekSample } from "./dialects/deepseek.js";
import { type ErrorSample, fullRequest } from "./dialects/dialect-sample.js";
import { groqSample } from "./dialects/groq.js";
import { llamaCppSample, ollamaSample, vllmSample } from "./dialects/local-servers.js";
import { mistralSample } from "./dialects/mistral.js";
import { openAISample } from "./dialects/openai.js";
import { openRouterSample } from "./dialects/openrouter.js";

const samples = [
  openAISample,
  azureSample,
  azureDatedSample,
  openRouterSample,
  groqSample,
  mistralSample,
  deepSeekSample,
  ollamaSample,
  vllmSample,
  llamaCppSample,
];

const tools = [{ type: "function" as const, function: { name: "get_weather", parameters: { type: "object" } } }];
const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

describe.each(samples)("$name", (sample) => {
  let upstream: FakeUpstream;
  let server: ClientServer;
  let client: OpenAI;

  beforeEach(async () => {
    upstream = await startFakeUpstream();
    server = await startServer({ providers: { fake: sample.make(upstream.origin) } });
    client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 });
  });
  afterEach(async () => {
    await server.checkBooks();
    await server.close();
    await upstream.close();
  });

  const whole = (body: string) =>
    upstream.reply(wholeAnswer(Buffer.from(body), { headers: { "content-type": "application/json" } }));
  const stream = (body: string) => upstream.reply(eventStream([body], { done: false }));

  async function streamed(options: { usage?: boolean } = {}) {
    const asked = options.usage === true ? { stream_options: { include_usage: true } } : {};
    const chunks = [];
    for await (const chunk of await client.chat.completions.create({ ...hello, tools, stream: true, ...asked })) {
      chunks.push(chunk);
    }
    return chunks;
  }

  async function expectTokens([input, cachedInput, output, reasoning]: readonly number[]) {
    await server.checkBooks();
    expect(server.events.at(-1)).toMatchObject({
      usageSource: "provider",
      tokens: { input, cachedInput, output, reasoning },
    });
  }

  it("gets requests in its own words, and all else as it was sent", async () => {
    whole(sample.whole.body);
    // An int64, which JSON.stringify would not write.
    const { seed, ...rest } = fullRequest;
    const sent = JSON.stringify({ model: "acme/small", ...rest }).replace("{", `{"seed":${seed},`);
    const response = await fetch(`${server.baseURL}/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
      body: sent,
    });
    expect(response.status).toBe(200);
    await response.text();
    const { lastRequest } = upstream;
    expect(lastRequest.url).toBe(sample.path);
    const { authorization, "api-key": apiKey } = lastRequest.headers;
    expect({ authorization, "api-key": apiKey }).toEqual({
      authorization: undefined,
      "api-key": undefined,
      ...sample.key,
    });
    const { messages, model, ...received } = lastRequest.json;
    expect(model).toBe("upstream-small");
    expect(messages).toEqual(sample.messages);
    const { seed: seedExpected = seed, random_seed: randomSeed, ...others } = sample.received;
    const gone = Object.keys(sample.received).filter((name) => sample.received[name] === undefined);
    const { messages: _messages, seed: _seed, ...sentMembers } = { ...fullRequest, ...others };
    const seedName = randomSeed === undefined ? "seed" : "random_seed";
    expect(seedExpected).toBe(9007199254740993n);
    expect(lastRequest.body.toString()).toContain(`"${seedName}":9007199254740993`);
    expect(received).toEqual({
      ...Object.fromEntries(Object.entries(sentMembers).filter(([name]) => !gone.includes(name))),
      [seedName]: expect.any(Number),
    });
  });

  it("is asked for usage with a stream, if it has to be", async () => {
    stream(sample.stream.body);
    await streamed();
    const asks = !("stream_options" in sample.received);
    expect(upstream.lastRequest.json.stream_options).toEqual(asks ? { include_usage: true } : undefined);
  });

  it("gives whole answers", async () => {
    whole(sample.whole.body);
    const answer = await client.chat.completions.create(hello);
    expect(answer).toMatchObject({
      object: "chat.completion",
      model: "acme/small",
      created: expect.any(Number),
      choices: [{ index: 0, message: { role: "assistant", content: sample.whole.content }, finish_reason: "stop" }],
    });
    expect(answer.id).toMatch(/^chatcmpl-./);
    for (const name of sample.stream.hidden ?? []) expect(answer.usage).not.toHaveProperty(name);
    await expectTokens(sample.whole.tokens);
  });

  it("gives streams, with usage once for who asks", async () => {
    stream(sample.stream.body);
    const chunks = await streamed({ usage: true });
    expect(chunks.map(({ choices }) => choices[0]?.delta?.content ?? "").join("")).toBe(sample.stream.content);
    expect(new Set(chunks.map(({ id, model, object, created }) => [id, model, object, created].join())).size).toBe(1);
    expect(chunks[0]).toMatchObject({ model: "acme/small", object: "chat.completion.chunk" });
    expect(chunks[0]?.created).toBeGreaterThan(1_600_000_000);
    const [input, , output] = sample.stream.tokens;
    const usages = chunks.flatMap(({ usage }) => usage ?? []);
    expect(usages.at(-1)).toMatchObject({ prompt_tokens: input, completion_tokens: output });
    for (const name of sample.stream.hidden ?? []) {
      for (const usage of usages) expect(usage).not.toHaveProperty(name);
    }
    await expectTokens(sample.stream.tokens);
  });

  it("gives streams without usage for who does not ask", async () => {
    stream(sample.stream.body);
    const chunks = await streamed();
    expect(chunks.flatMap(({ usage }) => usage ?? [])).toEqual([]);
    expect(chunks.map(({ choices }) => choices[0]?.delta?.content ?? "").join("")).toBe(sample.stream.content);
    await expectTokens(sample.stream.tokens);
  });

  it("gives tool calls, whole and streamed", async () => {
    whole(sample.tools.whole);
    const answer = await client.chat.completions.create({ ...hello, tools });
    const expected = {
      type: "function",
      id: expect.stringMatching(/./),
      function: { name: "get_weather", arguments: expect.stringContaining("Paris") },
    };
    expect(answer.choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { tool_calls: [expected] } });

    stream(sample.tools.stream);
    const final = await client.chat.completions.stream({ ...hello, tools }).finalChatCompletion();
    expect(final.choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { tool_calls: [expected] } });
  });

  const { reasoning } = sample;
  it.skipIf(reasoning === undefined)("gives its reasoning, whole and streamed", async () => {
    if (reasoning === undefined) return;
    whole(reasoning.whole);
    const answer = await client.chat.completions.create(hello);
    expect(answer.choices[0]?.message).toMatchObject({ content: "4", [reasoning.member]: "2+2 is 4." });

    stream(reasoning.stream);
    const deltas = (await streamed()).map(({ choices }) => choices[0]?.delta as Record<string, unknown> | undefined);
    expect(deltas.map((delta) => delta?.[reasoning.member] ?? "").join("")).toBe("2+2 is 4.");
    expect(deltas.map((delta) => delta?.["content"] ?? "").join("")).toBe("4");
  });

  it.each(sample.errors)("tells $what", async (error: ErrorSample) => {
    const { expected } = error;
    const options = { status: error.status, headers: { "content-type": "application/json", ...error.headers } };
    if (error.inStream) stream(error.body);
    else upstream.reply(wholeAnswer(Buffer.from(error.body), options));
    const failure = await (error.inStream ? streamed() : client.chat.completions.create(hello)).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(failure).toBeInstanceOf(APIError);
    const { status, code, param, message } = failure as APIError;
    expect({ status, code }).toEqual({ status: expected.status, code: expected.code });
    if (expected.param !== undefined) expect(param).toBe(expected.param);
    if (expected.message !== undefined) expect(message).toMatch(expected.message);
    if (!error.inStream && error.status !== 200) {
      // The same before a stream begins.
      await expect(streamed()).rejects.toMatchObject({ status: expected.status, code: expected.code });
    }
  });
});

for (const { name, make } of samples) {
  const { operations = defaultOperations } = make("http://127.0.0.1:9");
  describeUpstreamProvider(name, (baseURL) => make(new URL(baseURL).origin), { operations });
}
