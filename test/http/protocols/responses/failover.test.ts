import { afterEach, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { errorBody, eventStream, type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import { type ClientServer, startServer } from "../../../e2e/clients/start-server.js";
import {
  bothServers,
  chatServer,
  honest,
  nativeServer,
  type SampleServer,
} from "../../../support/operations/responses/response-samples.js";
import {
  parseEvents,
  readResponseEvents,
  refusalOf,
  requestText,
} from "../../../support/operations/responses/responses-server.js";
import { smallModel } from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Pair extends ClientServer {
  first: FakeUpstream;
  second: FakeUpstream;
  post(members?: Record<string, unknown>): Promise<Response>;
}

/** A model with two targets, of one kind and of the other. */
async function start(kinds: readonly [SampleServer, SampleServer], timeoutMs?: number): Promise<Pair> {
  const [first, second] = [await startFakeUpstream(), await startFakeUpstream()];
  first.reply(honest(kinds[0]));
  second.reply(honest(kinds[1], { text: "Hello again" }));
  const provider = (index: 0 | 1, baseURL: string) =>
    openAICompatible({ baseURL, apiKey: `sk-upstream-${index}`, operations: kinds[index].operations });
  const upstream = [
    { provider: "first", model: "first-model", ...(timeoutMs === undefined ? {} : { timeoutMs }) },
    { provider: "second", model: "second-model" },
  ];
  const server = await startServer({
    models: [{ ...smallModel, upstream }],
    providers: { first: provider(0, first.url), second: provider(1, second.url) },
  });
  closers.push(
    () => first.close(),
    () => second.close(),
    () => server.close(),
  );
  const post = (members: Record<string, unknown> = {}) =>
    fetch(`${server.baseURL}/responses`, {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
      body: requestText(members),
    });
  return { ...server, first, second, post };
}

const failing = wholeAnswer(errorBody("Out of memory", { type: "server_error" }), { status: 500 });

/** The request of these tests as a server of that kind gets it. */
function bodyOf(kind: SampleServer, model: string): Record<string, unknown> {
  if (kind === nativeServer) return { model, input: "Say hello.", max_output_tokens: 50, store: false };
  return { model, messages: [{ role: "user", content: "Say hello." }], max_completion_tokens: 50 };
}

const orders: [string, [SampleServer, SampleServer]][] = [
  ["native to translated", [nativeServer, chatServer]],
  ["translated to native", [chatServer, nativeServer]],
];

describe.each(orders)("from %s", (_name, kinds) => {
  it.each([false, true])("each target gets the request in its own words (stream: %s)", async (stream) => {
    const test = await start(kinds);
    test.first.reply(failing);
    const response = await test.post({ max_output_tokens: 50, ...(stream ? { stream } : {}) });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toContain("Hello again");
    expect(text).not.toMatch(/second-model|resp_upstream/);
    const targets = [test.first, test.second].map(({ lastRequest }) => lastRequest);
    expect(targets.map(({ url }) => url)).toEqual(kinds.map(({ path }) => path));
    for (const [index, request] of targets.entries()) {
      const expected = bodyOf(kinds[index] ?? nativeServer, ["first-model", "second-model"][index] ?? "");
      const { stream_options: _options, ...sent } = request.json;
      expect(sent).toEqual({ ...expected, ...(stream ? { stream } : {}) });
    }
    await test.checkBooks();
    expect(test.events).toMatchObject([
      { chargedMicro: 39, attempts: [{ provider: "first" }, { provider: "second", outcome: "completed" }] },
    ]);
  });

  it("a stream that fails before it has anything for the client goes on at the other", async () => {
    const test = await start(kinds);
    test.first.reply(eventStream([], { end: "cut" }));
    const events = await readResponseEvents(await test.post({ stream: true }));
    expect(events.at(-1)?.data.type).toBe("response.completed");
    expect(events.map(({ data }) => data["delta"] ?? "").join("")).toBe("Hello again");
    await test.checkBooks();
  });

  it("a target that is too slow has its turn taken by the other", async () => {
    const test = await start(kinds, 60);
    test.first.reply(() => {});
    expect(await (await test.post()).json()).toMatchObject({ model: "acme/small", status: "completed" });
    expect(test.events).toMatchObject([{ attempts: [{ provider: "first" }, { provider: "second" }] }]);
    await test.checkBooks();
  });

  it("a stream that has begun stays where it is", async () => {
    const test = await start(kinds);
    test.first.reply(kinds[0].stream({ isBroken: true }, { end: "cut" }));
    const events = parseEvents(await (await test.post({ stream: true })).text());
    expect(events.slice(-2).map(({ data }) => data.type)).toEqual(["error", "response.failed"]);
    expect(test.second.requests).toHaveLength(0);
    await test.checkBooks();
  });
});

describe("what no chat can say goes to the target that speaks the API, where there is one", () => {
  it.each<[string, Record<string, unknown>]>([
    ["a file by its id", { input: [{ role: "user", content: [{ type: "input_file", file_id: "file_1" }] }] }],
    ["a content of a type to come", { input: [{ role: "user", content: [{ type: "input_video", video: "x" }] }] }],
    ["a format of a type to come", { text: { format: { type: "grammar", grammar: "x" } } }],
    ["a tool that a model must know", { tools: [{ type: "computer" }] }],
    ["more values than a translation makes", { metadata: null, x: new Array(300_000).fill(0) }],
    ["an input of things past alone", { input: [{ type: "web_search_call", id: "ws_1", status: "completed" }] }],
  ])("%s", async (_name, members) => {
    const test = await start([chatServer, nativeServer]);
    expect((await test.post(members)).status).toBe(200);
    expect(test.first.requests).toHaveLength(0);
    expect(test.second.lastRequest.json).toMatchObject(members);
    const alone = await start([chatServer, chatServer]);
    expect(await refusalOf(await alone.post(members))).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(alone.warnings).toEqual([]);
    await test.checkBooks();
  });

  it("a fault of the client's own is looked for nowhere else", async () => {
    const test = await start([chatServer, nativeServer]);
    const refusal = await refusalOf(await test.post({ text: { format: { type: "json_schema", name: "x" } } }));
    expect(refusal).toMatchObject({ status: 400, param: "text.format.schema" });
    expect(test.second.requests).toHaveLength(0);
  });
});

it.each(bothServers)("$name that says no ends the call at once", async (target) => {
  const test = await start([target, target]);
  test.first.reply(wholeAnswer(errorBody("Bad.", { param: "top_p", code: "invalid_value" }), { status: 400 }));
  expect(await refusalOf(await test.post())).toMatchObject({ status: 400, param: "top_p" });
  expect(test.second.requests).toHaveLength(0);
  await test.checkBooks();
});
