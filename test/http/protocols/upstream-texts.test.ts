import { createAnthropic } from "@ai-sdk/anthropic";
import { afterEach, describe, expect, it } from "vitest";
import { aiSDK } from "../../../src/ai-sdk.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { UpstreamError, type UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { chatChunks, eventStream, type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const key = "sk-live-Qm7vT2xLw9ZkR4pNc8YhBd3J";
const header = "team-4f8e2d1c9b7a";
const secrets = [
  key,
  key.slice(3),
  key.slice(-12),
  header,
  "gw-eu-17",
  "10.1.2.3",
  "/srv/models/weights.bin",
  "prod-5b2f",
];
/** All that a careless server may say, around what the client has to know. */
const leak =
  `Bad 'temperature': ${key} ${key.slice(3)} ${key.slice(0, 6)}***${key.slice(-12)} ${header} at http://gw-eu-17:9000/prod-5b2f/v1 ` +
  `on gw-eu-17 (10.1.2.3:9000), token=${key.slice(-12)}, see /srv/models/weights.bin\n` +
  'Traceback (most recent call last):\n  File "/srv/app/main.py", line 3, in run\n    engine.step()\nValueError: must be at most 2';

async function start(
  make: (server: FakeUpstream) => UpstreamProvider,
): Promise<TestGateway & { server: FakeUpstream }> {
  const server = await startFakeUpstream();
  const test = await startTestGateway({ models: [smallModel], providers: { fake: make(server) } });
  closers.push(
    () => server.close(),
    () => test.close(),
  );
  return { ...test, server };
}

/** One whose base URL tells a lot, though it is a server on loopback that answers. */
function compatible(server: FakeUpstream): UpstreamProvider {
  return openAICompatible({
    baseURL: "http://gw-eu-17:9000/prod-5b2f/v1",
    apiKey: key,
    headers: { "x-team": header },
    fetch: (url, init) => fetch(String(url).replace("http://gw-eu-17:9000/prod-5b2f/v1", server.url), init),
  });
}

function changing(server: FakeUpstream): UpstreamProvider {
  return openAICompatible({
    baseURL: `${server.url}?sig=${key.slice(3)}`,
    apiKey: async () => key,
    headers: { "x-team": header },
  });
}

/** A provider of the host's, which says what is secret; and a copy of it, as hosts make. */
function own(server: FakeUpstream): UpstreamProvider {
  const { call } = openAICompatible({ baseURL: server.url });
  const provider: UpstreamProvider = {
    call: (given) => call(given),
    secrets: () => ({ keys: [key, header], urls: ["http://gw-eu-17:9000/prod-5b2f/v1"] }),
  };
  return { ...provider };
}

const error = { message: leak, type: "invalid_request_error", param: `temperature ${key}`, code: key.slice(3) };
const shapes: [string, object][] = [
  ["OpenAI's", { error }],
  ["vLLM's", { object: "error", ...error }],
  ["a text", { error: leak }],
  ["a detail", { detail: leak }],
  ["FastAPI's", { detail: [{ loc: ["body", key], msg: leak, type: "value_error" }] }],
  ["one in another", { error: { message: JSON.stringify({ detail: [{ loc: ["body", "temperature"], msg: leak }] }) } }],
  ["a text that is too long", { error: { message: "context window ".repeat(20) + leak.repeat(40) } }],
];

function expectClean(text: string): void {
  for (const secret of secrets) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/Traceback|main\.py|engine\.step/);
}

describe.each([
  ["a compatible server", compatible],
  ["a provider of the host's", own],
])("of %s", (_name, make) => {
  it.each(shapes)("nothing leaks from an error in the shape of %s", async (_shape, body) => {
    const test = await start(make);
    for (const status of [400, 413, 422]) {
      test.server.reply(wholeAnswer(body, { status }));
      for (const stream of [false, true]) {
        const response = await test.gateway.handler(chatRequest({ stream }));
        expect(response.status).toBe(400);
        const text = await response.text();
        expectClean(text);
        if (!text.includes("context_length_exceeded")) expect(text).toContain("temperature");
      }
    }
    // The host reads what was said, without keys.
    const told = JSON.stringify(test.events);
    expect(told).toContain("http://gw-eu-17:9000/prod-5b2f/v1 on gw-eu-17 (10.1.2.3:9000)");
    for (const secret of secrets.slice(0, 4)) expect(told).not.toContain(secret);
    expect(test.warnings).toEqual([]);
  });

  it("nothing leaks from an error inside a 200, in a choice, or in a stream", async () => {
    const test = await start(make);
    const choice = { index: 0, finish_reason: "error", message: { role: "assistant", content: "" } };
    const failed = { ...error, code: 400 };
    for (const body of [{ error: failed }, { object: "chat.completion", choices: [{ ...choice, error: failed }] }]) {
      test.server.reply(wholeAnswer(body));
      const text = await (await test.gateway.handler(chatRequest())).text();
      expect(text).toContain("must be at most 2");
      expectClean(text);
    }
    const [first, second] = chatChunks("Hello");
    test.server.reply(eventStream([first, second, { error: failed }] as object[]));
    const text = await (await test.gateway.handler(chatRequest({ stream: true }))).text();
    expect(text).toContain('data: {"error":{"message":"Bad');
    expectClean(text);
  });
});

it("keys of a function are known, too", async () => {
  const test = await start(changing);
  test.server.reply(
    wholeAnswer({ error: { message: `Bad 'n': ${key.slice(3, 20)} ${header.slice(2)}` } }, { status: 400 }),
  );
  const text = await (await test.gateway.handler(chatRequest())).text();
  expect(text).toContain("Bad 'n': [redacted]");
  expectClean(text);
  for (let from = 3; from < 14; from++) expect(text).not.toContain(key.slice(from, from + 6));
});

it("an image's address is told to the client that has sent it", async () => {
  const test = await start(compatible);
  const url = "https://images.example.org/cat.png?sig=Ab12Cd34Ef56Gh78";
  test.server.reply(
    wholeAnswer({ error: { message: `Failed to download ${url}.`, code: "invalid_image_url" } }, { status: 400 }),
  );
  const content = [{ type: "image_url", image_url: { url } }];
  const response = await test.gateway.handler(chatRequest({ messages: [{ role: "user", content }] }));
  expect(await response.json()).toMatchObject({
    error: { message: `Failed to download ${url}.`, code: "invalid_image_url" },
  });
});

it("the AI SDK's errors tell neither its server nor its key", async () => {
  const test = await start((server) =>
    aiSDK({
      model: createAnthropic({ baseURL: `${server.origin}/tenant-77ab1/v1`, apiKey: key }),
      headers: { "x-team": header },
    }),
  );
  const message = `${leak} ${test.server.origin}/tenant-77ab1/v1/messages tenant-77ab1`;
  test.server.reply(wholeAnswer({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 }));
  for (const stream of [false, true]) {
    const text = await (await test.gateway.handler(chatRequest({ stream }))).text();
    expect(text).toContain("must be at most 2");
    for (const secret of [key.slice(3), key.slice(-12), header, "tenant-77ab1", "127.0.0.1", "10.1.2.3"]) {
      expect(text).not.toContain(secret);
    }
  }
});

it("no key gets into a warning", async () => {
  const thrown = new UpstreamError(
    "unreachable",
    `The model failed: key ${key.slice(5)} for ${header}, other sk-ant-Zz99Yy88Xx77`,
  );
  const test = await start(() => ({
    call: () => Promise.reject(thrown),
    secrets: () => ({ keys: [key, header] }),
  }));
  expect((await test.gateway.handler(chatRequest())).status).toBe(502);
  expect(test.warnings).toMatchObject([
    { code: "upstream_failed", message: expect.stringContaining("The model failed: key [redacted]") },
  ]);
  for (const secret of [key.slice(5), header, "Zz99Yy88Xx77"]) expect(test.warnings[0]?.message).not.toContain(secret);
});

it("a provider whose secrets cannot be told fails none of its calls", async () => {
  const { call } = compatible(await startFakeUpstreamFor());
  const test = await start(() => ({
    call,
    secrets: () => {
      throw new Error("the vault is sealed");
    },
  }));
  const response = await test.gateway.handler(chatRequest());
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { message: "Bad 'n'." } });
});

async function startFakeUpstreamFor(): Promise<FakeUpstream> {
  const server = await startFakeUpstream();
  closers.push(() => server.close());
  server.reply(wholeAnswer({ error: { message: "Bad 'n'." } }, { status: 400 }));
  return server;
}
