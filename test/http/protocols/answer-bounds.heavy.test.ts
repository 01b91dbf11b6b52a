import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { mostResponseParts, mostToolCalls } from "../../../src/protocols/shared/response-bounds.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { chatAnswer, eventStream, type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

type Json = Record<string, unknown>;
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, at) => make(at));
const usage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 };
const chatUsage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

const message = (content: Json[]) => ({
  ...{ id: "msg_1", type: "message", role: "assistant", model: "up", content },
  ...{ stop_reason: "tool_use", stop_sequence: null, usage },
});
const toolUse = (at: number) => ({ type: "tool_use", id: `toolu_${at}`, name: "f", input: { at } });
const functionCall = (at: number) => ({
  ...{ id: `fc_${at}`, type: "function_call", call_id: `call_${at}`, name: "f", arguments: "{}" },
  status: "completed",
});
const chatCall = (at: number) => ({ id: `call_${at}`, type: "function", function: { name: "f", arguments: "{}" } });
const sse = (events: Json[]) =>
  eventStream(
    events.map((event) => `event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`),
    { done: false },
  );

/** How each kind of server says so many calls. */
const servers = {
  "chat/completions": {
    whole: (count: number) =>
      wholeAnswer({
        ...chatAnswer(),
        usage: chatUsage,
        choices: [
          {
            index: 0,
            finish_reason: "tool_calls",
            message: { role: "assistant", content: null, tool_calls: times(count, chatCall) },
          },
        ],
      }),
    stream: (count: number) =>
      eventStream([
        ...times(count, (at) => ({
          ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "up" },
          choices: [{ index: 0, delta: { tool_calls: [{ index: at, ...chatCall(at) }] }, finish_reason: null }],
        })),
        {
          ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "up" },
          choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }],
        },
      ]),
  },
  messages: {
    whole: (count: number) => wholeAnswer(message(times(count, toolUse))),
    stream: (count: number) =>
      sse([
        { type: "message_start", message: { ...message([]), stop_reason: null } },
        ...times(count, (index) => [
          { type: "content_block_start", index, content_block: { ...toolUse(index), input: {} } },
          { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: "{}" } },
          { type: "content_block_stop", index },
        ]).flat(),
        { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } },
        { type: "message_stop" },
      ]),
  },
  responses: {
    whole: (count: number) => wholeAnswer(response(count)),
    stream: (count: number) =>
      sse([
        { type: "response.created", sequence_number: 0, response: { ...response(0), status: "in_progress" } },
        ...times(count, (at) => [
          { type: "response.output_item.added", sequence_number: at * 2 + 1, output_index: at, item: functionCall(at) },
          { type: "response.output_item.done", sequence_number: at * 2 + 2, output_index: at, item: functionCall(at) },
        ]).flat(),
        { type: "response.completed", sequence_number: count * 2 + 1, response: response(count) },
      ]),
  },
} as const;

const response = (count: number) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, model: "up", status: "completed", usage },
  output: times(count, functionCall),
});

const clients: Readonly<Record<string, Json>> = {
  "chat/completions": { messages: [{ role: "user", content: "Hi" }] },
  messages: { max_tokens: 50, messages: [{ role: "user", content: "Hi" }] },
  responses: { input: "Hi", store: false },
};

type Kind = keyof typeof servers;
const pairs = (["chat/completions", "messages", "responses"] as const).flatMap((server) =>
  Object.keys(clients).flatMap((client) =>
    // Servers of Responses are for clients of Responses.
    server === "responses" && client !== "responses"
      ? []
      : [true, false].map((stream) => [server, client, stream] as const),
  ),
);

async function withGateway(
  server: Kind,
  run: (
    post: (client: string, stream: boolean) => Promise<Response>,
    upstream: FakeUpstream,
    test: TestGateway,
  ) => Promise<void>,
) {
  const upstream = await startFakeUpstream();
  const fake = openAICompatible({ baseURL: upstream.url, apiKey: "sk-upstream-secret", operations: [server] });
  const upstreams = ["one", "two"].map((model) => ({ provider: "fake", model }));
  const models = [{ ...smallModel, breaker: { consecutiveFailures: 1 }, upstream: upstreams }];
  const test = await startTestGateway({ models, providers: { fake } });
  const post = (client: string, stream: boolean) =>
    test.gateway.handler(
      new Request(`http://gateway.test/v1/${client}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-pro", "x-api-key": "sk-pro" },
        body: JSON.stringify({ model: "acme/small", stream, ...clients[client] }),
      }),
    );
  try {
    await run(post, upstream, test);
  } finally {
    await test.close();
    await upstream.close();
  }
}

describe.each(pairs)("calls of a server of %s for a client of %s, streamed: %s", (server, client, stream) => {
  const answer = (count: number) => (stream ? servers[server].stream(count) : servers[server].whole(count));

  it(`are ${mostToolCalls} at the most`, async () => {
    await withGateway(server, async (post, upstream) => {
      upstream.replyOnce(answer(mostToolCalls));
      const fine = await post(client, stream);
      expect(fine.status).toBe(200);
      const text = await fine.text();
      expect(text).toContain(`_${mostToolCalls - 1}"`);
      expect(text).not.toContain('error":{');
    });
  });

  it("is paid for, and made once, where a request asked for more", async () => {
    await withGateway(server, async (post, upstream, test) => {
      upstream.reply(answer(mostToolCalls + 1));
      // A breaker would open.
      for (let count = 1; count <= 2; count++) {
        const refused = await post(client, stream);
        const said = await refused.text();
        if (!stream) expect(refused.status).toBe(400);
        expect(said).toContain("too large to be passed on");
        const event = test.events.at(-1);
        expect(event).toMatchObject({ errorCode: "answer_too_large", endReason: "upstream_refused" });
        // 9 tokens at 1 micro-credit and 3 at 10; of a stream, all that has come.
        if (stream) expect(event?.chargedMicro).toBeGreaterThan(9);
        else expect(event).toMatchObject({ chargedMicro: 9 + 30, usageSource: "provider" });
        expect(upstream.requests).toHaveLength(count);
      }
      expect(test.gateway.health().models["acme/small"]?.targets.map(({ state, failed }) => [state, failed])).toEqual([
        ["closed", 0],
        ["closed", 0],
      ]);
    });
  });
});

it("other parts of an answer are bounded as well", async () => {
  await withGateway("messages", async (post, upstream) => {
    const texts = (count: number) => wholeAnswer(message(times(count, () => ({ type: "text", text: "a" }))));
    upstream.replyOnce(texts(mostResponseParts));
    expect((await post("responses", false)).status).toBe(200);
    upstream.reply(texts(mostResponseParts + 1));
    for (const client of Object.keys(clients)) expect((await post(client, false)).status).toBe(400);
  });
});

/** JSON of 6 MB that would take a hundred times the memory as values. */
const dense = `[${"[],".repeat(2_000_000)}0]`;
const events: Readonly<Record<Kind, string>> = {
  "chat/completions": `{"id":"c","object":"chat.completion.chunk","created":1,"model":"up","choices":[{"index":0,"delta":{"content":"x","z":${dense}},"finish_reason":"stop"}]}`,
  messages: `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"up","content":[],"z":${dense},"usage":{"input_tokens":1,"output_tokens":1}}}`,
  responses: `{"type":"response.completed","sequence_number":0,"response":{"id":"r","object":"response","status":"completed","model":"up","output":[],"z":${dense}}}`,
};
const wholes: Readonly<Record<Kind, string>> = {
  "chat/completions": `{"id":"c","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"message":{"role":"assistant","content":"x","z":${dense}},"finish_reason":"stop"}]}`,
  messages: `{"id":"m","type":"message","role":"assistant","model":"up","content":[{"type":"text","text":"x","z":${dense}}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`,
  responses: `{"id":"r","object":"response","status":"completed","model":"up","output":[{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"x","z":${dense}}]}]}`,
};

describe.each(pairs)("an answer of a server of %s for a client of %s, streamed: %s", (server, client, stream) => {
  it.each(["whole", "events"])("is none where it has more values than any model writes: %s", async (kind) => {
    await withGateway(server, async (post, upstream) => {
      if (kind === "events" && !stream) return;
      upstream.reply(
        kind === "whole"
          ? wholeAnswer(Buffer.from(wholes[server]))
          : async (_request, response) => {
              response.writeHead(200, { "content-type": "text/event-stream" });
              response.end(`data: ${events[server]}\n\n`);
            },
      );
      const answer = await post(client, stream);
      const said = await answer.text();
      if (!stream) expect(answer.status).toBe(502);
      expect(said.length).toBeLessThan(10_000);
      expect(said).toMatch(/"(?:bad_gateway|server_error|api_error)"/);
    });
  });
});

describe("a long answer with the probabilities of 20 tokens for each of its own", () => {
  it("is no crowd of values", async () => {
    const probable = { token: "a", logprob: -1.5, bytes: [97] };
    const content = times(14_000, () => ({ ...probable, top_logprobs: times(20, () => probable) }));
    const answer = { ...chatAnswer(), choices: [{ ...chatAnswer().choices[0], logprobs: { content } }] };
    await withGateway("chat/completions", async (post, upstream) => {
      upstream.reply(wholeAnswer(answer));
      const response = await post("chat/completions", false);
      expect(response.status).toBe(200);
      expect(((await response.json()) as typeof answer).choices[0]?.logprobs.content).toHaveLength(14_000);
    });
  });
});
