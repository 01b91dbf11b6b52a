import { afterEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { anthropic } from "../../../src/providers/presets.js";
import {
  chatAnswer,
  chatChunks,
  errorBody,
  eventStream,
  hangAfterHeaders,
  resetBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { honestTarget, nativeTarget } from "../../support/operations/messages/message-samples.js";
import { chatServer, honest, nativeServer, type Said } from "../../support/operations/responses/response-samples.js";
import {
  chatRequest,
  embeddingRequest,
  freeModel,
  startTestGateway,
  type TestGateway,
} from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const test = await startTestGateway(options);
  closers.push(() => test.close());
  return test;
}

/** How a client asks, and how the id of its response begins. */
const clients = {
  chat: { path: "/v1/chat/completions", prefix: "chatcmpl-", input: "messages", further: {} },
  responses: { path: "/v1/responses", prefix: "resp_", input: "input", further: {} },
  messages: { path: "/v1/messages", prefix: "msg_", input: "messages", further: { max_tokens: 100 } },
} as const;

const targets = {
  chat: {
    reply: (said: Said) => honest(chatServer, said),
    provider: (url: string) => openAICompatible({ baseURL: url, operations: ["chat/completions"] }),
  },
  responses: {
    reply: (said: Said) => honest(nativeServer, said),
    provider: (url: string) => openAICompatible({ baseURL: url, operations: ["responses"] }),
  },
  messages: {
    reply: (said: Said) => honestTarget(nativeTarget, said),
    provider: (url: string) => anthropic({ baseURL: url, apiKey: "sk-upstream-secret" }),
  },
};

const pairs: [client: keyof typeof clients, target: keyof typeof targets][] = [
  ["chat", "chat"],
  ["chat", "messages"],
  ["responses", "responses"],
  ["responses", "chat"],
  ["responses", "messages"],
  ["messages", "messages"],
  ["messages", "chat"],
];

const calls = [{ id: "call_1", name: "f", arguments: "{}" }];
const endings: [what: string, said: Said, finish: string][] = [
  ["an answer", {}, "stop"],
  ["a cut one", { isCut: true }, "length"],
  ["a call", { calls }, "tool_calls"],
];

function ask(client: keyof typeof clients, body: Record<string, unknown>): Request {
  const { path, input, further } = clients[client];
  return new Request(`http://gateway.test${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
    body: JSON.stringify({ model: "acme/small", [input]: [{ role: "user", content: "Hi." }], ...further, ...body }),
  });
}

describe.each(pairs)("a client of %s at a server of %s", (client, target) => {
  it.each(endings.flatMap(([what, said, finish]) => [false, true].map((stream) => ({ what, said, finish, stream }))))(
    "finds id and end of $what in the event (stream: $stream)",
    async ({ said, finish, stream }) => {
      const test = await start();
      test.gateway.update({ providers: { fake: targets[target].provider(test.upstream.url) } });
      test.upstream.reply(targets[target].reply(said));
      const ended = test.nextEvent();
      const response = await test.gateway.handler(ask(client, { stream }));
      const text = await response.text();
      expect([response.status, text]).toEqual([200, expect.any(String)]);
      const { prefix } = clients[client];
      const id = new RegExp(`"id":"(${prefix}[^"]*)"`).exec(text)?.[1];
      expect(id).toBeDefined();
      expect(await ended).toMatchObject({ responseId: id, finishReason: finish, endReason: "completed" });
    },
  );
});

describe("the event", () => {
  const marks = ["responseId", "finishReason"];

  it("has the first choice's end, also where it is not the first to come", async () => {
    const test = await start();
    const whole = chatAnswer({ finishReason: "content_filter" }) as { choices: object[] };
    whole.choices.push({ index: 1, message: { role: "assistant", content: "x" }, finish_reason: "stop" });
    test.upstream.replyOnce(wholeAnswer(whole));
    let ended = test.nextEvent();
    await (await test.gateway.handler(chatRequest({ n: 2 }))).text();
    expect(await ended).toMatchObject({ finishReason: "content_filter" });
    const chunk = (index: number, finish: string | null) => ({
      id: "chatcmpl-2",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index, delta: { role: "assistant", content: "x" }, finish_reason: finish }],
    });
    test.upstream.replyOnce(eventStream([chunk(1, null), chunk(0, null), chunk(1, "stop"), chunk(0, "length")]));
    ended = test.nextEvent();
    await (await test.gateway.handler(chatRequest({ n: 2, stream: true }))).text();
    expect(await ended).toMatchObject({ responseId: "chatcmpl-2", finishReason: "length" });
  });

  it("has the id that the client got, where the upstream's is not one for chat completions", async () => {
    const test = await start();
    test.upstream.reply(eventStream(chatChunks("Hi", { id: "gen-7" } as never)));
    const ended = test.nextEvent();
    const text = await (await test.gateway.handler(chatRequest({ stream: true }))).text();
    const id = /"id":"([^"]*)"/.exec(text)?.[1];
    expect(id?.startsWith("chatcmpl-")).toBe(true);
    expect(await ended).toMatchObject({ responseId: id });
  });

  it("has an id but no end where the stream broke off, and neither where the client got an error", async () => {
    const test = await start();
    test.upstream.replyOnce(eventStream(chatChunks("Hello world", { finishReason: null, usage: null })));
    let ended = test.nextEvent();
    await (await test.gateway.handler(chatRequest({ stream: true }))).text();
    const broken = await ended;
    expect(broken).toMatchObject({ endReason: "upstream_failed", responseId: expect.stringMatching(/^chatcmpl-/) });
    expect(broken).not.toHaveProperty("finishReason");
    // The reset of a kept connection is no failure yet: the request is sent once more on a new one.
    const failures = [[wholeAnswer(errorBody("No."), { status: 500 })], [resetBeforeHeaders(), resetBeforeHeaders()]];
    for (const replies of failures) {
      for (const reply of replies) test.upstream.replyOnce(reply);
      ended = test.nextEvent();
      expect((await test.gateway.handler(chatRequest())).status).toBe(502);
      for (const mark of marks) expect(await ended).not.toHaveProperty(mark);
    }
    ended = test.nextEvent();
    await test.gateway.handler(embeddingRequest());
    for (const mark of marks) expect(await ended).not.toHaveProperty(mark);
  });

  it("has the answer of the attempt that served, not of one that failed", async () => {
    const test = await start();
    const other = await startTestGateway();
    closers.push(() => other.close());
    const upstream = [
      { provider: "first", model: "m", timeoutMs: 50 },
      { provider: "fake", model: "m" },
    ];
    const { models, providers } = {
      models: [{ ...freeModel, id: "acme/small", upstream }],
      providers: {
        first: openAICompatible({ baseURL: other.upstream.url }),
        fake: openAICompatible({ baseURL: test.upstream.url }),
      },
    };
    test.gateway.update({ models, providers });
    other.upstream.reply(hangAfterHeaders());
    test.upstream.reply(wholeAnswer(chatAnswer({ finishReason: "length" })));
    const ended = test.nextEvent();
    const answer = (await (await test.gateway.handler(chatRequest())).json()) as { id: string };
    expect(await ended).toMatchObject({ responseId: answer.id, finishReason: "length", attempts: [{}, {}] });
  });

  it("leads to the journal by `callId`, whatever id the host has given", async () => {
    const test = await start({ requestId: () => "host-1" });
    let ended = test.nextEvent();
    await (await test.gateway.handler(chatRequest())).text();
    const { requestId, callId } = await ended;
    expect(requestId).toBe("host-1");
    const { entries } = await test.gateway.accounts.history("acct_pro");
    expect(entries.map(({ id }) => id)).toEqual([callId]);
    ended = test.nextEvent();
    await test.gateway.handler(chatRequest({ model: "acme/none" }));
    expect(await ended).not.toHaveProperty("callId");
  });

  it("has the `requestId` for its `callId` where the host gives none", async () => {
    const test = await start();
    const ended = test.nextEvent();
    await (await test.gateway.handler(chatRequest({ model: "acme/free" }))).text();
    const { requestId, callId } = await ended;
    expect(callId).toBe(requestId);
  });
});
