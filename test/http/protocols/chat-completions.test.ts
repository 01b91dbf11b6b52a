import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handle, requireMountable } from "../../../src/gateway/gateway.js";
import { toEventBytes } from "../../../src/testing/fake-upstream/fake-responses.js";
import {
  chatAnswer,
  chatChunks,
  createGate,
  errorBody,
  eventStream,
  type FakeAnswer,
  wholeAnswer,
} from "../../../src/testing.js";
import { chatRequest, readEvents, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
beforeEach(async () => {
  test = await startTestGateway();
});
afterEach(() => test.close());

async function call(request: Request): Promise<Response> {
  return test.gateway.handler(request);
}

describe("a whole answer", () => {
  it("has an id of its own where the upstream gives none", async () => {
    const { id: _id, ...anonymous } = chatAnswer();
    test.upstream.reply(wholeAnswer(anonymous));
    const { id } = (await (await call(chatRequest())).json()) as { id: string };
    expect(id).toMatch(/^chatcmpl-[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(id).toBe(`chatcmpl-${test.events[0]?.requestId.slice("req_".length)}`);
  });

  it("has the client's model, OpenAI's members, the stock's headers, and is charged", async () => {
    const response = await call(chatRequest());
    expect(response.status).toBe(200);
    const body = (await response.json()) as { id: string };
    expect(body).toMatchObject({ object: "chat.completion", model: "acme/small", usage: { total_tokens: 12 } });
    expect(body.id).toMatch(/^chatcmpl-/);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json",
      "x-ratelimit-limit-session": "100",
      "x-ratelimit-remaining-session": "99",
      "x-ratelimit-limit-week": "500",
      "x-ratelimit-remaining-month": "1499",
      "x-request-id": expect.stringMatching(/^req_/),
    });
    expect(response.headers.get("x-ratelimit-reset")).toBe(response.headers.get("x-ratelimit-reset-session"));
    // 9 prompt tokens at 1 micro-credit, 3 of completion at 10.
    expect(test.events).toMatchObject([
      {
        status: 200,
        endReason: "completed",
        usageSource: "provider",
        chargedMicro: 39,
        tokens: { input: 9, cachedInput: 0, output: 3, reasoning: 0 },
        keyId: "key_pro",
        account: "acct_pro",
        plan: "pro",
        model: "acme/small",
        endpoint: "chat/completions",
      },
    ]);
  });

  it("reaches the upstream byte for byte but for the model", async () => {
    const text =
      '{"model":"acme/small","messages":[{"role":"user","content":"h\\u00e9","x":{"deep":[1.0,12345678901234567890]}}],"seed":12345678901234567890,"future":{"a":1e2}}';
    await call(chatRequest(text));
    expect(test.upstream.lastRequest.body.toString()).toBe(text.replace("acme/small", "upstream-small"));
    expect(test.upstream.lastRequest.headers.authorization).toBe("Bearer sk-upstream-secret");
  });

  it("has its output caps cut down to what the model can do", async () => {
    await call(chatRequest({ max_tokens: 5000, max_completion_tokens: 1000 }));
    expect(test.upstream.lastRequest.json).toMatchObject({ max_tokens: 1000, max_completion_tokens: 1000 });
    await call(chatRequest({ max_tokens: 10 }));
    expect(test.upstream.lastRequest.json).toMatchObject({ max_tokens: 10 });
  });

  it("gets no stream_options to the upstream without a stream", async () => {
    await call(chatRequest({ stream: false, stream_options: { include_usage: true } }));
    expect(test.upstream.lastRequest.json).not.toHaveProperty("stream_options");
  });

  it("is charged by an estimate when the upstream reports no usage", async () => {
    test.upstream.reply(wholeAnswer(chatAnswer({ content: "123456", usage: null })));
    const body = (await (await call(chatRequest())).json()) as { usage: Record<string, number> };
    expect(body.usage["completion_tokens"]).toBe(6);
    expect(body.usage["prompt_tokens"]).toBeGreaterThan(10);
    expect(test.events[0]).toMatchObject({
      usageSource: "estimated",
      chargedMicro: (body.usage["prompt_tokens"] ?? 0) + 60,
    });
  });

  it("costs nothing when the upstream breaks off", async () => {
    test.upstream.reply((_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write("{");
      setImmediate(() => response.destroy());
    });
    const response = await call(chatRequest());
    expect(response.status).toBe(502);
    expect(response.headers.get("x-ratelimit-remaining-session")).toBe("100");
    expect(test.events[0]).toMatchObject({ chargedMicro: 0, endReason: "upstream_failed", errorCode: "bad_gateway" });
  });

  it("may begin with a byte order mark", async () => {
    test.upstream.reply(wholeAnswer(`\ufeff${JSON.stringify(chatAnswer({ content: "Hello" }))}`));
    const text = await (await call(chatRequest())).text();
    expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { content: "Hello" } }] });
  });
});

describe("a stream", () => {
  it("passes each event before the next one arrives", async () => {
    const gate = createGate();
    const chunks = chatChunks("Hello wide world");
    test.upstream.reply(eventStream(chunks, { gate }));
    gate.step(2);
    const response = await call(chatRequest({ stream: true }));
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const reader = response.body?.getReader();
    const texts: string[] = [];
    // All but the usage chunk: role, three words, finish.
    for (let event = 0; event < chunks.length - 1; event++) {
      texts.push(new TextDecoder().decode((await reader?.read())?.value));
      gate.step();
    }
    expect(texts.map((text) => text.split("data: ").length - 1)).toEqual(Array(chunks.length - 1).fill(1));
    gate.open();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: [DONE]\n\n");
  });

  it("is charged by the usage that the client never sees", async () => {
    const events = await readEvents(await call(chatRequest({ stream: true })));
    expect(test.upstream.lastRequest.json).toMatchObject({ stream_options: { include_usage: true } });
    expect(events.at(-1)).toBe("[DONE]");
    expect(events.join("")).not.toContain("usage");
    expect(test.events).toMatchObject([{ stream: true, chargedMicro: 39, usageSource: "provider", status: 200 }]);
  });

  it("ends with the usage chunk when the client asked for it", async () => {
    const events = await readEvents(
      await call(chatRequest({ stream: true, stream_options: { include_usage: true, extra: 1 } })),
    );
    expect(test.upstream.lastRequest.json).toMatchObject({ stream_options: { include_usage: true, extra: 1 } });
    expect(JSON.parse(events.at(-2) ?? "")).toMatchObject({ choices: [], usage: { total_tokens: 12 } });
  });

  it("answers with a status when the upstream fails before the first event", async () => {
    test.upstream.reply(
      eventStream([errorBody("Too long for the maximum context length", { code: "context_length_exceeded" })]),
    );
    const response = await call(chatRequest({ stream: true }));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded", param: "messages" } });
    expect(test.events[0]).toMatchObject({ chargedMicro: 0, status: 400 });
  });

  it.each(["cut", "reset"] as const)("ends with one error event when the upstream's connection is %s", async (end) => {
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello world", { finishReason: null, usage: null }), { end, gate }));
    gate.step(4);
    const response = await call(chatRequest({ stream: true }));
    const [mine, theirs] = response.body?.tee() ?? [];
    // A reset may swallow what was written just before it.
    await theirs?.getReader().read();
    gate.open();
    const events = await readEvents(new Response(mine ?? null));
    const last = JSON.parse(events.at(-1) ?? "");
    expect(Object.keys(last)).toEqual(["error"]);
    expect(last.error).toMatchObject({ type: "server_error", code: "bad_gateway", param: null });
    expect(last.error.message).toContain("broke off");
    expect(test.events[0]).toMatchObject({
      status: 200,
      errorCode: "bad_gateway",
      usageSource: "partial",
      endReason: "upstream_failed",
    });
    expect(test.events[0]?.chargedMicro).toBeGreaterThan(0);
  });

  it.each([
    ["an error of its server", { message: "Oops.", type: "server_error" }],
    ["an error about the gateway's own key", { message: "Incorrect API key.", code: "invalid_api_key" }],
  ])("broke off, where output came before %s", async (_name, error) => {
    test.upstream.reply(eventStream([...chatChunks("Hello", { finishReason: null, usage: null }), { error }]));
    const events = await readEvents(await call(chatRequest({ stream: true })));
    expect(JSON.parse(events.at(-1) ?? "").error).toMatchObject({
      code: "bad_gateway",
      message: expect.stringContaining("broke off"),
    });
    expect(test.events[0]).toMatchObject({ endReason: "upstream_failed", usageSource: "partial" });
  });

  it("is a failure when it stops without a finish reason", async () => {
    test.upstream.reply(eventStream(chatChunks("Hello", { finishReason: null, usage: null })));
    const events = await readEvents(await call(chatRequest({ stream: true })));
    expect(events.at(-1)).toContain('"error"');
    expect(events).not.toContain("[DONE]");
  });

  it("is complete without [DONE] once every finish reason is there", async () => {
    test.upstream.reply(eventStream(chatChunks("Hello"), { done: false, end: "cut" }));
    const events = await readEvents(await call(chatRequest({ stream: true })));
    expect(events.at(-1)).toBe("[DONE]");
    expect(test.events[0]).toMatchObject({ usageSource: "provider", endReason: "completed" });
  });

  it("ends with [DONE], though the upstream keeps its connection open", async () => {
    test.upstream.reply(eventStream([...chatChunks("Hello"), "data: [DONE]\n\n"], { end: "hang" }));
    const events = await readEvents(await call(chatRequest({ stream: true })));
    expect(events.at(-1)).toBe("[DONE]");
    expect(test.events[0]).toMatchObject({ endReason: "completed", usageSource: "provider" });
  });

  it("is over for the upstream when an adapter takes no more of it", async () => {
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(2);
    const request = chatRequest({ stream: true });
    const { body } = await requireMountable("test", test.gateway)[handle]({
      method: "POST",
      path: "/v1/chat/completions",
      header: (name) => request.headers.get(name) ?? undefined,
      body: async () => new Uint8Array(await request.arrayBuffer()),
      bodyInPieces: async () => [],
      signal: request.signal,
    });
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await pieces.next();
    gate.step(1);
    await pieces.next();
    await pieces.return?.();
    expect(test.events).toMatchObject([{ endReason: "client_gone", usageSource: "partial" }]);
    expect(await test.upstream.lastRequest.closed).toBe("broken");
  });

  it("is made of a whole answer when the upstream does not stream", async () => {
    test.upstream.reply(wholeAnswer(chatAnswer({ content: "Hello whole" })));
    const events = await readEvents(await call(chatRequest({ stream: true })));
    expect(JSON.parse(events[0] ?? "")).toMatchObject({
      object: "chat.completion.chunk",
      choices: [{ delta: { role: "assistant", content: "Hello whole" }, finish_reason: "stop" }],
    });
    expect(events.at(-1)).toBe("[DONE]");
  });

  it.each([
    [
      "events that are said to be JSON",
      eventStream(chatChunks("Hello"), { headers: { "content-type": "application/json" } }),
    ],
    ["a whole answer that is said to be events", asEvents([JSON.stringify(chatAnswer({ content: "Hello" }))])],
    [
      "a whole answer behind white space",
      asEvents(["\n", " \n ", ...JSON.stringify(chatAnswer({ content: "Hello" }))]),
    ],
    [
      "a whole answer behind a byte order mark",
      asEvents([`\ufeff${JSON.stringify(chatAnswer({ content: "Hello" }))}`]),
    ],
    ["events behind white space", asEvents([" \n", "\n", ...chatChunks("Hello").map((chunk) => toEventBytes(chunk))])],
  ])("is read as what it is: %s", async (_name, answer) => {
    test.upstream.reply(answer);
    const events = await readEvents(await call(chatRequest({ stream: true })));
    const text = events.slice(0, -1).map((event) => JSON.parse(event).choices[0]?.delta.content ?? "");
    expect(text.join("")).toBe("Hello");
    expect(events.at(-1)).toBe("[DONE]");
    expect(test.events).toMatchObject([{ endReason: "completed" }]);
  });

  it("stops the upstream and charges what was seen when the client leaves", async () => {
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate, end: "hang" }));
    gate.step(4);
    const leaving = new AbortController();
    const request = new Request(chatRequest({ stream: true }), { signal: leaving.signal });
    const response = await call(request);
    const event = test.nextEvent();
    await response.body?.getReader().read();
    leaving.abort();
    expect(await event).toMatchObject({ endReason: "client_gone", usageSource: "partial", status: 200 });
    expect(test.events[0]?.chargedMicro).toBeGreaterThan(0);
    expect(await test.upstream.lastRequest.closed).toBe("broken");
  });
});

describe("an event of the upstream", () => {
  it("may arrive byte by byte", async () => {
    test.upstream.reply(eventStream(chatChunks("Grüße 👋 Welt"), { pieceBytes: 1 }));
    const events = await readEvents(await call(chatRequest({ stream: true })));
    const text = events.slice(0, -1).map((event) => JSON.parse(event).choices[0].delta.content ?? "");
    expect(text.join("")).toBe("Grüße 👋 Welt");
  });

  it("may hold 10 MB", async () => {
    const long = "x".repeat(10_000_000);
    test.upstream.reply(eventStream(chatChunks(long)));
    const events = await readEvents(await call(chatRequest({ stream: true })));
    expect(events.some((event) => event.includes(long))).toBe(true);
    expect(events.at(-1)).toBe("[DONE]");
  });
});

function asEvents(pieces: readonly (string | Uint8Array)[]): FakeAnswer {
  return eventStream(pieces, { done: false });
}
