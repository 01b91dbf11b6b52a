import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { handle, requireMountable } from "../../../src/gateway/gateway.js";
import { fromErrorObject } from "../../../src/protocols/shared/upstream-failure.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { chatChunks, createGate, eventStream, hangAfterHeaders, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, readEvents, startTestGateway } from "../../support/test-gateway.js";

const context = { model: "acme/small", upstreamModel: "upstream-small", promptParam: "messages", startedAt: 0 };

describe("hooks that are async", () => {
  it("may fail without ending the process", async () => {
    const test = await startTestGateway({
      onRequestCompleted: async () => {
        throw new Error("The database is down.");
      },
    });
    expect((await test.gateway.handler(chatRequest())).status).toBe(200);
    await new Promise((resolve) => setImmediate(resolve));
    expect(test.warnings).toMatchObject([{ code: "hook_failed" }]);
    await test.close();
  });
});

describe("a whole answer that is larger than may be", () => {
  it.each([
    ["comes at once", wholeAnswer(`{"padding":"${"x".repeat(3000)}"}`)],
    [
      "has no end",
      async (_request: unknown, response: ServerResponse) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"padding":"');
        while (!response.destroyed) {
          response.write("x".repeat(500));
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    ],
  ])("is a 502 that costs nothing when it %s", async (_what, reply) => {
    const test = await startTestGateway({ maxResponseBytes: 2000 });
    test.upstream.reply(reply);
    expect((await test.gateway.handler(chatRequest())).status).toBe(502);
    await test.upstream.lastRequest.closed;
    expect(test.events).toMatchObject([{ chargedMicro: 0, endReason: "upstream_failed" }]);
    expect(test.warnings).toMatchObject([{ cause: { message: "Its answer is over 2000 bytes (maxResponseBytes)." } }]);
    await test.close();
  });
});

describe("a request whose body is on its way when the gateway closes", () => {
  it("is not admitted any more", async () => {
    const test = await startTestGateway();
    const gate = createGate();
    const request = chatRequest();
    const response = requireMountable("test", test.gateway)[handle]({
      method: "POST",
      path: "/v1/chat/completions",
      header: (name) => request.headers.get(name) ?? undefined,
      body: async () => {
        await gate.pass();
        return new Uint8Array(await request.arrayBuffer());
      },
      bodyInPieces: async () => [],
      signal: request.signal,
    });
    await test.gateway.close();
    gate.open();
    expect((await response).status).toBe(503);
    expect(test.upstream.requests).toHaveLength(0);
    await test.close();
  });
});

describe("a body of very many members", () => {
  it.each([
    ["at the top", (members: string) => `{"model":"acme/small","messages":[{"role":"user"}],${members}}`],
    ["in a message", (members: string) => `{"model":"acme/small","messages":[{${members},"role":"user"}]}`],
  ])("%s is refused", async (_name, body) => {
    const test = await startTestGateway();
    const members = Array.from({ length: 100_000 }, (_, index) => `"_${index}":0`).join(",");
    expect((await test.gateway.handler(chatRequest(body(members)))).status).toBe(400);
    await test.close();
  });
});

describe("a prompt that pretends to be an image", () => {
  it("is held for as the text that it is", async () => {
    const test = await startTestGateway();
    const content = `data:image/png;base64,${"hello ".repeat(20_000)}`;
    const response = await test.gateway.handler(chatRequest({ messages: [{ role: "user", content }], stream: true }));
    test.upstream.reply(wholeAnswer({ choices: [{ message: { content: "x" } }] }));
    await response.text();
    const estimated = await test.gateway.handler(chatRequest({ messages: [{ role: "user", content }] }));
    const { usage } = (await estimated.json()) as { usage: { prompt_tokens: number } };
    expect(usage.prompt_tokens).toBeGreaterThan(30_000);
    await test.close();
  });

  it("never counts for more than the model's context", async () => {
    const test = await startTestGateway();
    test.upstream.reply(wholeAnswer({ choices: [{ message: { content: "x" } }] }));
    const content = [{ type: "input_audio", input_audio: { data: "A".repeat(3_000_000), format: "wav" } }];
    const response = await test.gateway.handler(chatRequest({ messages: [{ role: "user", content }] }));
    expect(await response.json()).toMatchObject({ usage: { prompt_tokens: 128_000 } });
    await test.close();
  });
});

describe("an upstream's error", () => {
  it("may be anything at all", () => {
    fc.assert(
      fc.property(fc.anything(), (error) => {
        expect(fromErrorObject(error, context).status).toBeGreaterThanOrEqual(400);
      }),
    );
    const hostile = JSON.parse('{"status":{"toString":1,"valueOf":1},"code":{"toString":1}}');
    expect(fromErrorObject(hostile, context).status).toBe(502);
  });

  it.each([
    "Invalid schema for function 'get_billing_address': not an object",
    "Invalid value: 'authenticated_user'",
    "Unknown parameter: 'tools[0].api_key'",
  ])("that repeats the client's words stays the client's: %s", async (message) => {
    const test = await startTestGateway();
    test.upstream.reply(
      wholeAnswer({ error: { message, type: "invalid_request_error", param: "tools" } }, { status: 400 }),
    );
    expect((await test.gateway.handler(chatRequest())).status).toBe(400);
    await test.close();
  });

  it.each([
    "vllm-worker-3:8000",
    "gpu7.cluster.corp:9000",
    "http://10.0.0.8/v1",
    "[fd00::1]:8000",
    "Bearer abcdefghijklmnop",
    "AIzaSyDabcdefghijk",
    "ops@secretcorp.xyz",
    "UPSTREAM-SMALL",
  ])("does not tell of %s", async (secret) => {
    const test = await startTestGateway();
    test.upstream.reply(wholeAnswer({ error: { message: `Failed at ${secret} today` } }, { status: 400 }));
    expect(await (await test.gateway.handler(chatRequest())).text()).not.toContain(secret);
    await test.close();
  });

  it("whose body never ends is told all the same", async () => {
    const test = await startTestGateway({
      providers: {
        fake: {
          call: async () => ({
            status: 500,
            headers: {},
            body: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) },
          }),
        },
      },
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    try {
      const answered = test.gateway.handler(chatRequest());
      await vi.advanceTimersByTimeAsync(5000);
      expect((await answered).status).toBe(502);
    } finally {
      vi.useRealTimers();
    }
    await test.close();
  });
});

describe("a stream", () => {
  it("whose usage came only at its beginning is charged for what followed", async () => {
    const test = await startTestGateway();
    const [role, ...rest] = chatChunks("word ".repeat(100), { usage: null });
    test.upstream.reply(
      eventStream([{ ...role, usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 } }, ...rest]),
    );
    await (await test.gateway.handler(chatRequest({ stream: true }))).text();
    expect(test.events[0]?.tokens.output).toBeGreaterThan(100);
    await test.close();
  });

  it("that is complete ends well, though its upstream falls silent", async () => {
    const test = await startTestGateway();
    const impatient = await startTestGateway({
      providers: { fake: openAICompatible({ baseURL: test.upstream.url, idleTimeoutMs: 60 }) },
    });
    test.upstream.reply(eventStream(chatChunks("Hello"), { end: "hang", done: false }));
    expect((await readEvents(await impatient.gateway.handler(chatRequest({ stream: true })))).at(-1)).toBe("[DONE]");
    await impatient.close();
    await test.close();
  });

  it("that fails in its middle raises a warning, and counts audio and thinking as output", async () => {
    const test = await startTestGateway();
    const deltas = [{ audio: { data: "A".repeat(300) } }, { content: [{ type: "thinking", thinking: "Hm." }] }];
    test.upstream.reply(eventStream(chatChunks("", { deltas, finishReason: null, usage: null })));
    await (await test.gateway.handler(chatRequest({ stream: true }))).text();
    expect(test.warnings).toMatchObject([{ code: "upstream_failed", requestId: test.events[0]?.requestId }]);
    expect(test.events[0]?.tokens.output).toBeGreaterThan(100);
    await test.close();
  });

  it("of a provider that aborts by itself ends with an error", async () => {
    const test = await startTestGateway();
    const { UpstreamError } = await import("../../../src/providers/upstream-provider.js");
    const broken = await startTestGateway({
      providers: {
        fake: {
          call: async () => ({
            status: 200,
            headers: {},
            body: (async function* () {
              yield Buffer.from(`data: ${JSON.stringify(chatChunks("Hi")[1])}\n\n`);
              throw new UpstreamError("aborted", "by itself");
            })(),
          }),
        },
      },
    });
    const events = await readEvents(await broken.gateway.handler(chatRequest({ stream: true })));
    expect(events.at(-1)).toContain('"bad_gateway"');
    await broken.close();
    await test.close();
  });
});

describe("a provider of a host's own", () => {
  it.each([
    ["texts", ['{"id":"1",', '"choices":[]}']],
    ["one text", ["{}"]],
    ["numbers", [1, 2]],
    ["nothing", [undefined, null]],
    ["lists of bytes", [[0x7b], [0x7d]]],
  ])("that yields %s in place of bytes has failed, and that is all", async (_name, pieces) => {
    const body = async function* () {
      yield* pieces;
    };
    const call = async () => ({ status: 200, headers: {}, body: body() as AsyncIterable<Uint8Array> });
    const test = await startTestGateway({ providers: { fake: { call } } });
    for (const stream of [false, true]) {
      expect((await test.gateway.handler(chatRequest({ stream }))).status).toBe(502);
    }
    expect(test.events).toMatchObject([{ chargedMicro: 0 }, { chargedMicro: 0 }]);
    await test.close();
  });
});

describe("a preflight", () => {
  it("to a path that does not exist lets the page read that it does not", async () => {
    const test = await startTestGateway({ cors: true });
    const preflight = new Request("http://gateway.test/v1/nope", {
      method: "OPTIONS",
      headers: { origin: "https://a.test" },
    });
    expect((await test.gateway.handler(preflight)).status).toBe(204);
    test.upstream.reply(hangAfterHeaders());
    await test.close();
  });
});
