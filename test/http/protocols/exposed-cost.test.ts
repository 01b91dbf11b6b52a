import { afterAll, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { chatAnswer, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { expectNoSockets, type ServerOptions, startServer } from "../../e2e/clients/start-server.js";
import { honestEmbeddings } from "../../support/embedding-samples.js";
import {
  chatTarget,
  honestTarget,
  type MessagesServerKind,
  nativeTarget,
} from "../../support/operations/messages/message-samples.js";
import { startMessages } from "../../support/operations/messages/messages-server.js";
import { chatServer, nativeServer, type SampleServer } from "../../support/operations/responses/response-samples.js";
import { startResponses } from "../../support/operations/responses/responses-server.js";
import { embeddingModel, freeModel, smallModel } from "../../support/test-gateway.js";

afterAll(expectNoSockets);

type Server = Awaited<ReturnType<typeof startServer>>;
type Members = Record<string, unknown>;

const prompt = { messages: [{ role: "user", content: "Say hello." }] };
const asks = { stream_options: { include_usage: true } };

function post({ baseURL }: Server, path: string, body: object, model = "acme/small"): Promise<Response> {
  return fetch(`${baseURL}${path}`, {
    method: "POST",
    headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
    body: JSON.stringify({ model, ...body }),
  });
}

/** What a server of each kind is asked by clients of each protocol. */
const scenes: readonly [
  name: string,
  start: (options: ServerOptions) => Promise<Server>,
  path: string,
  body: object,
][] = [
  ...([chatTarget, nativeTarget] as MessagesServerKind[]).flatMap((target) => [
    [
      `a message of ${target.name}`,
      (o: ServerOptions) => startMessages(target, o),
      "/messages",
      { ...prompt, max_tokens: 50 },
    ] as const,
    [
      `a chat completion of ${target.name} of Messages`,
      (o: ServerOptions) => startMessages(target, o),
      "/chat/completions",
      prompt,
    ] as const,
  ]),
  ...([chatServer, nativeServer] as SampleServer[]).map(
    (target) =>
      [
        `a response of ${target.name}`,
        (o: ServerOptions) => startResponses(target, o),
        "/responses",
        { input: "Hi" },
      ] as const,
  ),
].map((scene) => [...scene]);

/** The usage of an answer, or of the last event of a stream that has one. */
function usageIn(text: string): Members {
  const events = text.startsWith("{")
    ? [text]
    : text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [line.slice(6)] : []));
  const usages = events.flatMap((event) => {
    const said = JSON.parse(event) as Members & { response?: Members };
    return said["usage"] ?? said.response?.["usage"] ?? [];
  });
  return (usages.at(-1) ?? {}) as Members;
}

describe.each(scenes)("%s", (_name, start, path, body) => {
  it("says what was charged, in a header and, where the host wants it, in the usage", async () => {
    for (const exposeCost of [false, true]) {
      const server = await start({ exposeCost });
      const whole = await post(server, path, body);
      expect(whole.headers.get("x-credits-charged")).toBe("0.000039");
      const usage = usageIn(await whole.text());
      expect(usage["cost"]).toBe(exposeCost ? 0.000039 : undefined);
      const streamed = await post(server, path, { ...body, ...(path === "/chat/completions" && asks), stream: true });
      expect(streamed.headers.get("x-credits-charged")).toBeNull();
      const { cost, ...others } = usageIn(await streamed.text());
      expect(cost).toBe(exposeCost ? 0.000039 : undefined);
      expect(Object.keys(others).length).toBeGreaterThan(0);
      expect(server.events).toMatchObject([{ chargedMicro: 39 }, { chargedMicro: 39 }]);
      await server.checkBooks();
      await server.close();
    }
  });
});

it.each(scenes)("%s that nobody has counted says what its estimate costs", async (_name, start, path, body) => {
  const server = await start({ exposeCost: true });
  const target = server as Server;
  target.upstream.reply((request, response) => {
    const kind = request.url.endsWith("/messages")
      ? nativeTarget
      : request.url.endsWith("/responses")
        ? nativeServer
        : chatTarget;
    const said = { isUncounted: true, text: "0123456789" };
    return (request.json["stream"] ? kind.stream(said) : kind.whole(said))(request, response);
  });
  for (const stream of [false, true]) {
    const answer = await post(server, path, { ...body, ...(path === "/chat/completions" && stream && asks), stream });
    const { cost } = usageIn(await answer.text());
    const event = server.events.at(-1);
    expect(event).toMatchObject({ usageSource: "estimated", tokens: { output: 10 } });
    expect(cost).toBe((event?.chargedMicro ?? 0) / 1e6);
  }
  await server.close();
});

describe("the cost of a call", () => {
  it("is in a stream's usage alone, which a client of chat completions must ask for", async () => {
    const server = await startMessages(chatTarget, { exposeCost: true });
    const text = await (await post(server, "/chat/completions", { ...prompt, stream: true })).text();
    expect(text).toContain("[DONE]");
    expect(text).not.toMatch(/cost|usage/);
    await server.close();
  });

  it("is nothing for a model that is free, and that of the prompt for embeddings", async () => {
    const server = await startServer({ exposeCost: true, models: [freeModel, embeddingModel] });
    server.upstream.replyOnce(wholeAnswer(chatAnswer()));
    const free = await post(server, "/chat/completions", prompt, "acme/free");
    expect([free.headers.get("x-credits-charged"), usageIn(await free.text())["cost"]]).toEqual(["0", 0]);
    server.upstream.replyOnce(honestEmbeddings());
    const embedded = await post(server, "/embeddings", { input: "Hello" }, "acme/embed");
    const charged = server.events.at(-1)?.chargedMicro ?? 0;
    expect(charged).toBeGreaterThan(0);
    expect(embedded.headers.get("x-credits-charged")).toBe(`0.00000${charged}`);
    expect(usageIn(await embedded.text())["cost"]).toBe(charged / 1e6);
    await server.close();
  });

  it("is that of the target that gave the response, with what failed ones are charged", async () => {
    const upstream = await startFakeUpstream();
    upstream.reply(honestTarget(chatTarget));
    const provider = openAICompatible({ baseURL: upstream.url, apiKey: "sk-upstream-secret" });
    const failing = {
      error: { message: "no", type: "server_error" },
      usage: { prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 },
    };
    const model = {
      ...smallModel,
      chargeFailedAttempts: true,
      upstream: [
        { provider: "fake", model: "first" },
        { provider: "fake", model: "second", price: { input: 2, output: 20 } },
      ],
    };
    const server = await startServer({ exposeCost: true, models: [model], providers: { fake: provider } });
    upstream.replyOnce(wholeAnswer(failing));
    const answer = await post(server, "/chat/completions", prompt);
    const charged = 5 + 2 * 9 + 20 * 3;
    expect(server.events).toMatchObject([{ chargedMicro: charged }]);
    expect(answer.headers.get("x-credits-charged")).toBe("0.000083");
    expect(usageIn(await answer.text())["cost"]).toBe(0.000083);
    await server.close();
    await upstream.close();
  });

  it("is that of the answer of which a guard makes another one", async () => {
    const guards = [{ name: "strict", answer: () => ({ refuse: "No." }) }];
    const server = await startMessages(chatTarget, { exposeCost: true, guards });
    for (const stream of [false, true]) {
      const answer = await post(server, "/chat/completions", { ...prompt, ...(stream && asks), stream });
      const text = await answer.text();
      expect(text).not.toContain("Hello world");
      expect(usageIn(text)["cost"]).toBe(0.000039);
    }
    await server.close();
  });

  it("is in the header of an error that is charged, and of no other", async () => {
    const answer = () => {
      throw new Error("I cannot say.");
    };
    const server = await startMessages(chatTarget, { cors: true, guards: [{ name: "broken", answer }] });
    const checked = await post(server, "/chat/completions", prompt);
    expect([checked.status, checked.headers.get("x-credits-charged")]).toEqual([503, "0.000039"]);
    expect(checked.headers.get("access-control-expose-headers")).toContain("x-credits-charged");
    server.upstream.replyOnce(wholeAnswer("oops", { status: 500 }));
    const failed = await post(server, "/chat/completions", prompt);
    expect([failed.status, failed.headers.get("x-credits-charged")]).toEqual([502, null]);
    await server.close();
  });
});
