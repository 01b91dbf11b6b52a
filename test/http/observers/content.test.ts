import { context, trace } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import type { CallContent, Observer } from "infergate";
import { openTelemetry } from "infergate/otel";
import { afterEach, expect, it, vi } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import {
  chatChunks,
  createGate,
  eventStream,
  honestChat,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { baseModel, completionServer, textChunk, textCompletion } from "../../support/completion-samples.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
let provider: NodeTracerProvider | undefined;
afterEach(async () => {
  await test?.close();
  await provider?.shutdown();
  trace.disable();
  context.disable();
  vi.unstubAllEnvs();
});

type Content = NonNullable<Parameters<typeof openTelemetry>[0]>["content"];

async function start(content: Content, options: Partial<GatewayOptions> = {}) {
  const spans = new InMemorySpanExporter();
  provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  provider.register();
  test = await startTestGateway({ observers: [openTelemetry({ content })], ...options });
  /** What the spans of requests have of content, the last request's. */
  const told = () => {
    const { attributes = {} } = spans.getFinishedSpans().findLast(({ name }) => !name.endsWith("upstream-small")) ?? {};
    const read = (name: string): unknown => {
      const json = attributes[name];
      return json === undefined ? undefined : JSON.parse(String(json));
    };
    return {
      system: read("gen_ai.system_instructions"),
      input: read("gen_ai.input.messages"),
      output: read("gen_ai.output.messages"),
    };
  };
  return { ...test, spans, told };
}

type Started = Awaited<ReturnType<typeof start>>;

async function ask({ gateway }: Pick<Started, "gateway">, path: string, body: object): Promise<string> {
  const headers = { authorization: "Bearer sk-pro", "content-type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify({ model: "acme/small", ...body }) };
  return (await gateway.handler(new Request(`http://localhost/v1/${path}`, request))).text();
}

const text = (content: string) => ({ type: "text", content });
const user = [{ role: "user", parts: [text("What of Rome?")] }];
const asked = { messages: [{ role: "user", content: "What of Rome?" }] };

/** What a model server of chat completions responds: words, and a call of a tool. */
const call = { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } };
const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
const whole = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "upstream-small",
  choices: [
    { index: 0, message: { role: "assistant", content: "I look.", tool_calls: [call] }, finish_reason: "tool_calls" },
  ],
  usage,
};
const chunk = (delta: object, reason: string | null = null) => ({
  ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "upstream-small" },
  choices: [{ index: 0, delta, finish_reason: reason }],
});
const argument = (written: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: written } }] });
const streamed = [
  chunk({ role: "assistant", content: "I " }),
  chunk({ content: "look." }),
  chunk({ tool_calls: [{ index: 0, ...call, function: { name: "weather", arguments: "" } }] }),
  argument('{"city":'),
  argument('"Rome"}'),
  chunk({}, "tool_calls"),
  { ...chunk({}), choices: [], usage },
];
const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];

it.each<[string, path: string, body: object]>([
  ["chat completions", "chat/completions", { ...asked, tools }],
  [
    "messages",
    "messages",
    { ...asked, max_tokens: 99, tools: [{ name: "weather", input_schema: { type: "object" } }] },
  ],
  ["responses", "responses", { input: "What of Rome?", tools: [{ type: "function", ...tools[0]?.function }] }],
])("has what was asked and answered, and calls of tools: %s", async (_, path, body) => {
  const started = await start(true);
  for (const stream of [false, true]) {
    started.upstream.replyOnce(stream ? eventStream(streamed) : wholeAnswer(whole));
    const sent = await ask(started, path, { ...body, stream });
    expect(sent).toContain("weather");
    const { input, output } = started.told();
    const parts = [text("I look."), { type: "tool_call", name: "weather", arguments: '{"city":"Rome"}' }];
    expect([stream, input]).toEqual([stream, user]);
    expect([stream, output]).toMatchObject([stream, [{ role: "assistant", parts, finish_reason: "tool_call" }]]);
  }
});

const rome = { type: "tool_call", id: "call_1", name: "weather", arguments: '{"city":"Rome"}' };
const sunny = { type: "tool_call_response", id: "call_1", response: "Sunny." };
const seen = { role: "user", parts: [text("And this?"), { type: "blob", modality: "image" }] };
const pixel = "data:image/png;base64,iVBORw0KGgo=";

it.each<[string, path: string, body: object, system: unknown, input: unknown]>([
  [
    "chat completions",
    "chat/completions",
    {
      messages: [
        { role: "system", content: "Be kind." },
        { role: "assistant", content: null, tool_calls: [call] },
        { role: "tool", tool_call_id: "call_1", content: "Sunny." },
        {
          role: "user",
          content: [
            { type: "text", text: "And this?" },
            { type: "image_url", image_url: { url: pixel } },
          ],
        },
      ],
    },
    undefined,
    [
      { role: "system", parts: [text("Be kind.")] },
      { role: "assistant", parts: [rome] },
      { role: "tool", parts: [sunny] },
      seen,
    ],
  ],
  [
    "messages",
    "messages",
    {
      max_tokens: 9,
      system: [{ type: "text", text: "Be kind." }],
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Rome?", signature: "c2ln" },
            { type: "tool_use", id: "call_1", name: "weather", input: { city: "Rome" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: [{ type: "text", text: "Sunny." }] },
            { type: "text", text: "And this?" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
          ],
        },
      ],
    },
    [text("Be kind.")],
    [
      { role: "user", parts: [text("Hi")] },
      { role: "assistant", parts: [{ type: "reasoning", content: "Rome?" }, rome] },
      { role: "user", parts: [sunny, ...seen.parts] },
    ],
  ],
  [
    "responses",
    "responses",
    {
      instructions: "Be kind.",
      input: [
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Rome?" }] },
        { type: "function_call", call_id: "call_1", name: "weather", arguments: '{"city":"Rome"}' },
        { type: "function_call_output", call_id: "call_1", output: "Sunny." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "And this?" },
            { type: "input_image", image_url: pixel },
          ],
        },
      ],
    },
    [text("Be kind.")],
    [
      { role: "assistant", parts: [{ type: "reasoning", content: "Rome?" }] },
      { role: "assistant", parts: [rome] },
      { role: "tool", parts: [sunny] },
      seen,
    ],
  ],
])("has a conversation in the same words, without its files: %s", async (_, path, body, system, input) => {
  const started = await start({ output: false });
  await ask(started, path, body);
  expect(started.told()).toEqual({ system, input, output: undefined });
});

it("has prompts and completions of texts", async () => {
  const server = await startFakeUpstream();
  const started = await start(true, { models: [baseModel], providers: { fake: completionServer(server.url) } });
  const completed = (words: string) => ({ role: "assistant", parts: [text(words)], finish_reason: "stop" });
  for (const stream of [false, true]) {
    const streamed = [textChunk("o"), textChunk("two", 1, "stop"), textChunk("ne", 0, "stop")];
    server.replyOnce(
      stream
        ? eventStream([...streamed, { ...textCompletion([]), usage }])
        : wholeAnswer(textCompletion(["one", "two"])),
    );
    await ask(started, "completions", { model: "acme/base", prompt: ["Say one.", "Say two."], max_tokens: 5, stream });
    expect(started.told()).toEqual({
      system: undefined,
      input: ["Say one.", "Say two."].map((words) => ({ role: "user", parts: [text(words)] })),
      output: [completed("one"), completed("two")],
    });
  }
  expect(started.spans.getFinishedSpans().at(-1)?.attributes["gen_ai.operation.name"]).toBe("text_completion");
  await server.close();
});

it("tells the choices of a stream apart, and has what came before it broke off", async () => {
  const started = await start(true);
  const gate = createGate();
  const piece = (index: number, content: string) => ({ ...chunk({}), choices: [{ index, delta: { content } }] });
  started.upstream.replyOnce(
    eventStream([piece(0, "one"), piece(1, "two"), piece(0, " more")], { end: "reset", gate }),
  );
  gate.step(4);
  const response = await started.gateway.handler(chatRequest({ stream: true, n: 2 }));
  let pieces = "";
  for await (const bytes of response.body ?? []) {
    pieces += Buffer.from(bytes).toString();
    if (pieces.includes(" more")) gate.open();
  }
  expect(started.told().output).toEqual([
    { role: "assistant", parts: [text("one more")], finish_reason: "error" },
    { role: "assistant", parts: [text("two")], finish_reason: "error" },
  ]);
});

it("has none of either unless it is asked for", async () => {
  for (const content of [undefined, false, { input: false, output: false }]) {
    const started = await start(content);
    await ask(started, "chat/completions", asked);
    expect(JSON.stringify(started.spans.getFinishedSpans().map(({ attributes }) => attributes))).not.toMatch(
      /Rome|messages"/,
    );
    await test?.close();
    await provider?.shutdown();
    trace.disable();
    context.disable();
  }
});

it.each(["false", "NO_CONTENT"])("has none where the environment says %s, whatever the option says", async (value) => {
  vi.stubEnv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value);
  const started = await start(true);
  await ask(started, "chat/completions", asked);
  expect(started.told()).toEqual({ system: undefined, input: undefined, output: undefined });
});

it("keeps JSON whole within its bound, whatever is sent", async () => {
  const started = await start({ maxCharacters: 200 });
  for (const stream of [false, true]) {
    started.upstream.replyOnce(honestChat("\u0001\u{1f600}".repeat(2_000)));
    const messages = [...Array(1_000)].map(() => ({ role: "user", content: `"${"x".repeat(50)}` }));
    await ask(started, "chat/completions", { messages, stream });
    const { input, output } = started.told();
    expect(JSON.stringify(input).length).toBeLessThan(1_000);
    expect(JSON.stringify(output).length).toBeLessThan(2_000);
    expect([input, output]).toMatchObject([
      [{ role: "user" }, { role: "user" }],
      [{ role: "assistant", parts: [{ type: "text" }] }],
    ]);
  }
  const large = { messages: [{ role: "user", content: "x".repeat(1024 * 1024) }] };
  await ask(started, "chat/completions", large);
  expect(started.told().input).toBeUndefined();
});

it("has what the host's redaction leaves, and nothing of accounts that it leaves out", async () => {
  const started = await start({
    redact(content, event) {
      event.status = 0;
      if (event.account !== "acct_pro") return undefined;
      return JSON.parse(JSON.stringify(content).replaceAll("Rome", "[city]"));
    },
  });
  await ask(started, "chat/completions", asked);
  expect(started.told().input).toEqual([{ role: "user", parts: [text("What of [city]?")] }]);
  expect(started.events[0]?.status).toBe(200);
  await started.gateway.handler(chatRequest(asked, "sk-basic")).then((response) => response.text());
  expect(started.told()).toEqual({ system: undefined, input: undefined, output: undefined });
});

it.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw new Error("A mistake.");
    },
  ],
  ["rejects", async () => Promise.reject(new Error("A mistake."))],
  ["is async", async () => ({})],
  ["returns what is no content", () => ({ output: "x" })],
  ["returns far too much", () => ({ input: ["x".repeat(10_000_000)] })],
])("has none where the redaction %s, and the span has all else", async (_, redact) => {
  const started = await start({ redact: redact as never });
  await ask(started, "chat/completions", asked);
  expect(started.told()).toEqual({ system: undefined, input: undefined, output: undefined });
  const span = started.spans.getFinishedSpans().find(({ name }) => name === "chat acme/small");
  expect(span?.attributes).toMatchObject({ "http.response.status_code": 200, "infergate.account": "acct_pro" });
  expect(started.warnings.map(({ code }) => code)).toEqual(["hook_failed"]);
});

it.each<[Content]>([[{ maxCharacters: 0 }], [{ maxCharacters: 65_537 }], ["all" as never], [{ redact: 1 as never }]])(
  "refuses %j",
  (content) => {
    expect(() => openTelemetry({ content })).toThrow(TypeError);
  },
);

it("comes to observers that ask for it, and to no others, beside the texts of the request log", async () => {
  const given: unknown[] = [];
  const observer = (contentCharacters?: number): Observer => ({
    onRequest: () => ({ contentCharacters, onCompleted: (_, content?: CallContent) => given.push(content) }),
  });
  test = await startTestGateway({
    observers: [observer(), observer(100)],
    requestLog: { store: memoryRequestLog(), keepTexts: { maxCharacters: 5 } },
  });
  test.upstream.reply(eventStream(chatChunks("Hello wide world")));
  await ask(test, "chat/completions", { ...asked, stream: true });
  expect(given).toEqual([
    undefined,
    { input: user, output: [{ role: "assistant", parts: [text("Hello wide world")] }] },
  ]);
  const { requests } = await test.gateway.requests.list();
  const line = await test.gateway.requests.get(requests[0]?.requestId ?? "");
  expect(line?.texts).toEqual({ request: '{"mod', answer: "Hello" });
});

it("is not there for embeddings, and not for what is refused before its body is read", async () => {
  const started = await start(true);
  await ask(started, "embeddings", { model: "acme/embed", input: "What of Rome?" });
  await started.gateway.handler(chatRequest(asked, "sk-wrong")).then((response) => response.text());
  expect(JSON.stringify(started.spans.getFinishedSpans().map(({ attributes }) => attributes))).not.toContain("Rome");
});
