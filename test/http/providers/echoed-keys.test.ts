import { expect, it, onTestFinished } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { eventStream, startFakeUpstream } from "../../../src/testing.js";
import { chatServer, nativeServer, type SampleServer } from "../../support/operations/responses/response-samples.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

const key = "sk-upstream-0123456789";
const text = "Hello world, as long as events are that nobody reads in full. ".repeat(100);

/** Streams what a server gives, whose every event repeats the operator's key beside the model's words. */
async function streamOf(server: SampleServer, write: (event: object) => string | object): Promise<string> {
  const upstream = await startFakeUpstream();
  onTestFinished(() => upstream.close());
  upstream.reply(eventStream(server.events({ text }).map(write), { done: server === chatServer }));
  const { operations } = server;
  const provider = openAICompatible({ baseURL: upstream.url, apiKey: key, operations });
  const test = await startTestGateway({ models: [smallModel], providers: { fake: provider } });
  onTestFinished(() => test.close());
  const request =
    server === chatServer
      ? chatRequest({ stream: true })
      : new Request("http://gateway.test/v1/responses", {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
          body: JSON.stringify({ model: "acme/small", input: "Hello", stream: true }),
        });
  return await (await test.gateway.handler(request)).text();
}

const named = (event: object, more: object, name = (event as { type?: string }).type) =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify({ ...event, ...more })}\n\n`;

it.each([
  ["a member of its own", { note: key }],
  ["a name", { [key]: 1 }],
  ["an id", { item_id: `it_${key}` }],
  ["what it hides sizes with", { obfuscation: key }],
])(
  "a stream of responses shows no key that its server repeats in %s, however long the event is",
  async (_where, more) => {
    const received = await streamOf(nativeServer, (event) => named(event, more));
    expect(received).toContain("response.completed");
    expect(received).toContain("Hello world");
    expect(received).not.toContain(key);
  },
);

it("nor in the names of events", async () => {
  const received = await streamOf(nativeServer, (event) => named(event, {}, `response.${key}`));
  expect(received).not.toContain(key);
});

it.each([{ obfuscation: key }, { system_fingerprint: key }, { note: key }])(
  "a stream of chat completions shows none: %j",
  async (more) => {
    const received = await streamOf(chatServer, (event) => ({ ...event, ...more }));
    expect(received).toContain("[DONE]");
    expect(received).not.toContain(key);
  },
);

it("nor where it is written with escapes", async () => {
  const written = key.replaceAll("s", "\\u0073");
  const write = (event: object) => named(event, { note: key }).replaceAll(key, written);
  const received = await streamOf(nativeServer, write);
  expect(received).toContain("response.completed");
  expect(received).not.toContain(written);
});
