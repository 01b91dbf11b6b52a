import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import { eventStream, type FakeUpstream, startFakeUpstream } from "../../../../src/testing.js";
import { type ClientServer, startServer } from "../../../e2e/clients/start-server.js";
import {
  chatTarget,
  honestTarget,
  type MessagesServerKind,
  nativeTarget,
} from "../../../support/operations/messages/message-samples.js";
import {
  messageRefusal,
  messageText,
  postMessage,
  readMessage,
  readMessageEvents,
} from "../../../support/operations/messages/messages-server.js";
import { smallModel } from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Pair extends ClientServer {
  first: FakeUpstream;
  second: FakeUpstream;
}

/** A model with two targets, of one kind and of the other. */
async function start(
  kinds: readonly [MessagesServerKind, MessagesServerKind],
  model: Partial<Model> = {},
): Promise<Pair> {
  const [first, second] = [await startFakeUpstream(), await startFakeUpstream()];
  first.reply(honestTarget(kinds[0]));
  second.reply(honestTarget(kinds[1], { text: "Hello again" }));
  const server = await startServer({
    models: [
      {
        ...smallModel,
        ...model,
        upstream: [
          { provider: "first", model: "first-model" },
          { provider: "second", model: "second-model" },
        ],
      },
    ],
    providers: {
      first: kinds[0].provider({ baseURL: first.url, apiKey: "sk-upstream-0" }),
      second: kinds[1].provider({ baseURL: second.url, apiKey: "sk-upstream-1" }),
    },
  });
  closers.push(
    () => first.close(),
    () => second.close(),
    () => server.close(),
  );
  return { ...server, first, second };
}

/** A conversation with everything that the two kinds of servers say in different ways. */
const conversation = {
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  stop_sequences: ["END"],
  tools: [{ name: "weather", input_schema: { type: "object", properties: {} }, cache_control: { type: "ephemeral" } }],
  messages: [
    { role: "user", content: [{ type: "text", text: "How is it?" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Ask.", signature: "EqQBsigned" },
        { type: "tool_use", id: "toolu_1", name: "weather", input: { n: 1.0 } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "sun" }] },
  ],
};
const sentText = messageText(conversation).replace('{"n":1}', '{ "n": 12345678901234567890 }');

function expectOwnWords(kind: MessagesServerKind, server: FakeUpstream, model: string, stream: boolean): void {
  const { url, body } = server.lastRequest;
  expect(url).toBe(kind.path);
  const sent = body.toString();
  if (kind === nativeTarget) {
    const renamed = sentText.replace('"model":"acme/small"', `"model":"${model}"`);
    expect(sent).toBe(stream ? renamed.replace(/\}$/, ',"stream":true}') : renamed);
    return;
  }
  expect(JSON.parse(sent)).toMatchObject({
    model,
    max_tokens: 50,
    stop: ["END"],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "How is it?" },
      { role: "assistant", tool_calls: [{ function: { arguments: '{ "n": 12345678901234567890 }' } }] },
      { role: "tool", tool_call_id: "toolu_1", content: "sun" },
    ],
  });
  expect(sent).not.toMatch(/EqQBsigned|cache_control/);
}

const orders: [string, [MessagesServerKind, MessagesServerKind]][] = [
  ["native to translated", [nativeTarget, chatTarget]],
  ["translated to native", [chatTarget, nativeTarget]],
];

describe.each(orders)("from %s", (_name, kinds) => {
  it.each([false, true])("each target gets the client's request, in its own words (stream: %s)", async (stream) => {
    const test = await start(kinds);
    test.first.reply(kinds[0].error(500, "api_error", "Out of memory"));
    const body = stream ? sentText.replace(/\}$/, ',"stream":true}') : sentText;
    const message = await readMessage(await postMessage(test.baseURL, body));
    expect(message).toMatchObject({ model: "acme/small", content: [{ type: "text", text: "Hello again" }] });
    expect(JSON.stringify(message)).not.toMatch(/(first|second)-model|upstream-small/);
    expectOwnWords(kinds[0], test.first, "first-model", stream);
    expectOwnWords(kinds[1], test.second, "second-model", stream);
    await test.checkBooks();
    expect(test.events).toMatchObject([{ chargedMicro: 39, attempts: [{}, { outcome: "completed" }] }]);
  });

  it("a stream that fails before it has anything for the client goes on at the other", async () => {
    const test = await start(kinds);
    test.first.reply(eventStream([": waiting\n\n"], { end: "cut" }));
    const message = await readMessage(await postMessage(test.baseURL, { stream: true }));
    expect(message).toMatchObject({ content: [{ text: "Hello again" }], stop_reason: "end_turn" });
    await test.checkBooks();
  });

  it("a stream that has begun stays where it is", async () => {
    const test = await start(kinds);
    test.first.reply(kinds[0].stream({ isBroken: true }, { end: "cut" }));
    const events = await readMessageEvents(await postMessage(test.baseURL, { stream: true }));
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(["message_start", "error"]);
    expect(test.second.requests).toHaveLength(0);
    await test.checkBooks();
  });

  it("what the first refuses as the client's fault goes nowhere else", async () => {
    const test = await start(kinds);
    test.first.reply(kinds[0].error(400, "invalid_request_error", "top_p: must be at most 1"));
    expect(await messageRefusal(await postMessage(test.baseURL))).toMatchObject({
      status: 400,
      type: "invalid_request_error",
      shouldRetry: "false",
    });
    expect(test.second.requests).toHaveLength(0);
    await test.checkBooks();
  });
});

describe("what chat completions cannot say goes to the target that speaks Messages, where there is one", () => {
  const inBlock = (block: object) => ({ messages: [{ role: "user", content: [block] }] });
  it.each<[string, Record<string, unknown>]>([
    [
      "an image by its id, where the operator shares files",
      inBlock({ type: "image", source: { type: "file", file_id: "file_1" } }),
    ],
    ["a document by its URL", inBlock({ type: "document", source: { type: "url", url: "https://x.test/a.pdf" } })],
    ["a tool that Anthropic describes", { tools: [{ type: "bash_20250124", name: "bash" }] }],
  ])("%s", async (_name, members) => {
    const test = await start([chatTarget, nativeTarget], { allowMembers: ["file_id"] });
    expect(await readMessage(await postMessage(test.baseURL, members))).toMatchObject({
      content: [{ text: "Hello again" }],
    });
    expect(test.first.requests).toHaveLength(0);
    expect(test.second.lastRequest.json).toMatchObject(members);
    const alone = await start([chatTarget, chatTarget]);
    expect(await messageRefusal(await postMessage(alone.baseURL, members))).toMatchObject({
      status: 400,
      type: "invalid_request_error",
    });
    expect(alone.warnings).toEqual([]);
    await test.checkBooks();
  });
});
