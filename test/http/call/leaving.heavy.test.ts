import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { RequestCompleted } from "../../../src/events/request-completed.js";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  type FakeAnswer,
  hangAfterHeaders,
  hangBeforeHeaders,
  ManualClock,
  resetBeforeHeaders,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { textTokens } from "../../../src/tokens/text-tokens.js";
import { type ClientServer, startServer } from "../../e2e/clients/start-server.js";
import { freePort } from "../../support/free-port.js";
import { smallModel } from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** How often each attack is made. */
const times = 15;

interface Attacked extends ClientServer {
  clock: ManualClock;
  /** A call that its client does not wait for. Resolves when the gateway has settled it. */
  call(body: object): { leave(): Promise<RequestCompleted>; response: Promise<Response | undefined> };
}

async function start(model: Partial<Model> = {}, options: Partial<GatewayOptions> = {}): Promise<Attacked> {
  const clock = new ManualClock(Date.now());
  const server = await startServer({ clock, models: [{ ...smallModel, ...model }], ...options });
  closers.push(() => server.close());
  return {
    ...server,
    clock,
    call(body) {
      const leaving = new AbortController();
      const response = fetch(`${server.baseURL}/chat/completions`, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Think." }], ...body }),
        signal: leaving.signal,
      }).catch(() => undefined);
      const leave = async () => {
        const completed = server.nextEvent();
        leaving.abort();
        await response;
        return completed;
      };
      return { leave, response };
    },
  };
}

/** The charge for a prompt of so many tokens, and nothing else. */
const promptOf = (input: number) => ({
  endReason: "client_gone",
  usageSource: "partial",
  tokens: { input, cachedInput: 0, output: 0, reasoning: 0 },
  chargedMicro: input,
});

/** @returns reads on until the text has come. */
function reading(response: Response | undefined): (text: string) => Promise<void> {
  const reader = response?.body?.getReader();
  let read = "";
  return async (text) => {
    while (!read.includes(text)) {
      const piece = await reader?.read();
      if (piece === undefined || piece.done) throw new Error(`The stream ended before ${text}: ${read}`);
      read += Buffer.from(piece.value).toString();
    }
  };
}

describe("leaving before the upstream's status", () => {
  it.each([true, false])("costs the prompt, each time (stream: %s)", async (stream) => {
    const test = await start();
    test.upstream.reply(hangBeforeHeaders());
    for (let time = 0; time < times; time++) {
      const { leave } = test.call({ stream });
      await test.upstream.nextRequest();
      // However long the model worked: it shows no reasoning, so that nothing is presumed of it.
      test.clock.advance(1000);
      const event = await leave();
      expect(event).toMatchObject({ status: 499, disconnect: "cancelled", ...promptOf(event.tokens.input) });
      expect(event.tokens.input).toBeGreaterThan(10);
    }
    await test.checkBooks();
    expect(test.events).toHaveLength(times);
  });

  it.each<[string, object, Partial<Model>]>([
    ["a model that reasons", {}, { capabilities: { reasoning: true } }],
    ["a request that asks for it", { reasoning_effort: "high" }, {}],
  ])("costs the time, too, with %s", async (_name, body, model) => {
    const test = await start(model);
    test.upstream.reply(hangBeforeHeaders());
    for (const [seconds, output] of [
      [0, 0],
      [2, 400],
      [60, 1000],
    ] as const) {
      const { leave } = test.call({ ...body, max_tokens: 1000 });
      await test.upstream.nextRequest();
      test.clock.advance(seconds * 1000);
      const event = await leave();
      const { input } = event.tokens;
      expect(event).toMatchObject({ usageSource: "partial", tokens: { input, output, reasoning: output } });
      expect(event.chargedMicro).toBe(input + 20 * output);
    }
    await test.checkBooks();
  });

  it("costs no time where the request wants no reasoning", async () => {
    const test = await start();
    test.upstream.reply(hangBeforeHeaders());
    const { leave } = test.call({ reasoning_effort: "none" });
    await test.upstream.nextRequest();
    test.clock.advance(60_000);
    const event = await leave();
    expect(event).toMatchObject(promptOf(event.tokens.input));
  });
});

describe("leaving within a stream", () => {
  const reasoner: Partial<Model> = { capabilities: { reasoning: true }, maxOutputTokens: 100_000 };
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 5003,
    total_tokens: 5012,
    completion_tokens_details: { reasoning_tokens: 5000 },
  };
  /** The role; two words; the finish; the usage. */
  const chunks = chatChunks("Hello world", { usage });

  /** A stream that has come up to so many chunks, half a minute of it between the first and the rest. */
  async function openStream(test: Attacked, events: object[], count: number, body: object = {}) {
    const gate = createGate();
    test.upstream.replyOnce(eventStream(events, { gate }));
    gate.step(2);
    const { leave, response } = test.call({ stream: true, max_tokens: 20_000, ...body });
    const until = reading(await response);
    await until('"role"');
    test.clock.advance(30_000);
    gate.step(count - 1);
    return { gate, leave, until };
  }

  it("just before the end costs what was hidden, by the time that it took", async () => {
    const test = await start(reasoner);
    for (let time = 0; time < times; time++) {
      const { until, leave } = await openStream(test, chunks, 3);
      await until(" world");
      const event = await leave();
      expect(event).toMatchObject({ disconnect: "cancelled", usageSource: "partial" });
      // 200 tokens a second for 30 seconds, of which 2 were seen.
      expect(event.tokens).toMatchObject({ output: 6000, reasoning: 5998 });
      expect(event.chargedMicro).toBeGreaterThan(9 + 10 * 3 + 20 * 5000);
    }
    await test.checkBooks();
  });

  it.each<[string, object[], string]>([
    ["shown", chatChunks("Hello", { usage, deltas: [{ reasoning_content: "Hm." }] }), "Hm."],
    [
      "counted on the way",
      chatChunks("Hello", {
        finishReason: null,
        extra: {
          usage: {
            ...usage,
            total_tokens: 19,
            completion_tokens: 10,
            completion_tokens_details: { reasoning_tokens: 8 },
          },
        },
        usage: null,
      }),
      "Hello",
    ],
  ])("does so, too, where reasoning is %s, whatever the model is said to do", async (_name, events, last) => {
    const test = await start({ maxOutputTokens: 100_000 });
    const { until, leave } = await openStream(test, events, last === "Hm." ? 3 : 2);
    await until(last);
    const event = await leave();
    expect(event).toMatchObject({ usageSource: "partial", tokens: { output: 6000 } });
    expect(event.tokens.reasoning).toBeGreaterThan(5900);
  });

  it.each([20_000, 800])("goes by the rate at which output came, and by the cap (%i)", async (cap) => {
    const test = await start(reasoner);
    const words = Array.from({ length: 21 }, (_, index) => `word-${index}-`.padEnd(30, "x"));
    const gate = createGate();
    test.upstream.replyOnce(eventStream(chatChunks(words.join(" "), { usage }), { gate }));
    gate.step(2);
    const { leave, response } = test.call({ stream: true, max_tokens: cap });
    const until = reading(await response);
    await until('"role"');
    test.clock.advance(30_000);
    for (const [index] of words.entries()) {
      gate.step();
      await until(`word-${index}-`);
      test.clock.advance(200);
    }
    const { usageSource, tokens } = await leave();
    const seen = textTokens(Buffer.from(words.join(" ")));
    // What came in 20 × 200 ms goes for all of the 34.2 seconds.
    const output = Math.min(Math.ceil((34_200 * seen) / 4000), cap);
    expect([usageSource, tokens]).toMatchObject(["partial", { output, reasoning: output - seen }]);
    await test.checkBooks();
  });

  it("costs what was seen of a model that does not reason", async () => {
    const test = await start({ maxOutputTokens: 100_000 });
    const { until, leave } = await openStream(test, chunks, 3);
    await until(" world");
    expect((await leave()).tokens).toMatchObject({ output: 2, reasoning: 0 });
  });

  it("costs what the upstream has counted when that has come", async () => {
    const test = await start(reasoner);
    const { gate, until, leave } = await openStream(test, chunks, 5, { stream_options: { include_usage: true } });
    await until('"usage":{');
    const left = leave();
    gate.open();
    const event = await left;
    expect(event).toMatchObject({ usageSource: "provider", chargedMicro: 9 + 10 * 3 + 20 * 5000 });
  });

  it("is never charged beyond its cap by an estimate", async () => {
    const test = await start();
    for (const [characters, output] of [
      [90, 60],
      [300, 100],
      [900, 100],
    ] as const) {
      const gate = createGate();
      test.upstream.replyOnce(eventStream(chatChunks("x".repeat(characters)), { gate }));
      gate.step(3);
      const { leave, response } = test.call({ stream: true, max_tokens: 100 });
      await reading(await response)("xxx");
      expect((await leave()).tokens).toMatchObject({ output, reasoning: 0 });
    }
  });
});

describe("a drain", () => {
  const answers: [string, () => FakeAnswer, string][] = [
    ["does not answer", () => hangBeforeHeaders(), "drain_timed_out"],
    ["does not begin its answer", () => hangAfterHeaders(), "drain_timed_out"],
    ["fails", () => wholeAnswer("oops", { status: 500, gate: opened }), "drain_failed"],
    ["is at its capacity", () => wholeAnswer("{}", { status: 429, gate: opened }), "drain_failed"],
    ["refuses", () => wholeAnswer("{}", { status: 400, gate: opened }), "drain_failed"],
    ["breaks off", () => resetBeforeHeaders({ gate: opened }), "drain_failed"],
    ["says nonsense", () => wholeAnswer("<html>", { gate: opened }), "drain_failed"],
  ];
  let opened = createGate();

  it.each(answers)("whose target %s costs the prompt, each time", async (_name, answer, disconnect) => {
    const timesOut = disconnect === "drain_timed_out";
    for (const targets of [1, 2]) {
      const upstream = Array.from({ length: targets }, (_, index) => ({ provider: "fake", model: `m${index}` }));
      const test = await start({ upstream, disconnect: timesOut ? { maxMs: 30 } : "drain" });
      for (let time = 0; time < times; time++) {
        opened = createGate();
        const known = test.upstream.requests.length;
        const closed = test.closed();
        test.upstream.replyOnce(answer());
        const { leave } = test.call({ stream: time % 2 === 0 });
        await test.upstream.nextRequest();
        const settled = leave();
        await expect.poll(() => test.closed(), { interval: 1 }).toBe(closed + 1);
        await turns();
        opened.open();
        const event = await settled;
        expect(event).toMatchObject({ disconnect, ...promptOf(event.tokens.input) });
        // A client that has left is not tried for elsewhere.
        expect(test.upstream.requests.length).toBe(known + 1);
        // Circuit breakers close again.
        test.clock.advance(60_000);
      }
      await test.checkBooks();
    }
  });

  it("is exact where the answer comes to its end", async () => {
    const test = await start({ disconnect: "drain", capabilities: { reasoning: true } });
    for (let time = 0; time < times; time++) {
      const gate = createGate();
      test.upstream.replyOnce(wholeAnswer(chatAnswer(), { gate }));
      const { leave } = test.call({});
      await test.upstream.nextRequest();
      const closed = test.closed();
      const settled = leave();
      await expect.poll(() => test.closed(), { interval: 1 }).toBe(closed + 1);
      await turns();
      test.clock.advance(60_000);
      gate.open();
      expect(await settled).toMatchObject({ disconnect: "drained", usageSource: "provider", chargedMicro: 39 });
    }
    await test.checkBooks();
  });
});

describe("leaving between targets", () => {
  it("costs the prompt at the price of the one that has the request", async () => {
    const other = await startFakeUpstream();
    closers.push(() => other.close());
    const upstream = [
      { provider: "first", model: "first", price: { input: 7, output: 70 } },
      { provider: "second", model: "second", price: { input: 3, output: 30 } },
    ];
    const dead = `http://127.0.0.1:${await freePort()}/v1`;
    const test = await start(
      { upstream, retryBudgetMs: 0 },
      { providers: { first: openAICompatible({ baseURL: dead }), second: openAICompatible({ baseURL: other.url }) } },
    );
    other.reply(hangBeforeHeaders());
    for (let time = 0; time < 4; time++) {
      const { leave } = test.call({});
      await other.nextRequest();
      const event = await leave();
      expect(event).toMatchObject({ ...promptOf(event.tokens.input), chargedMicro: 3 * event.tokens.input });
    }
    await test.checkBooks();
  });

  it("costs nothing while the call is at none, since what failed before is nobody's", async () => {
    const test = await start({ maxAttempts: 3, retryBudgetMs: 60_000 });
    for (let time = 0; time < 3; time++) {
      test.upstream.replyOnce(wholeAnswer("{}", { status: 429, headers: { "retry-after": "9" } }));
      const { leave } = test.call({});
      await expect
        .poll(() => test.gateway.health().models["acme/small"]?.targets[0])
        .toMatchObject({ failed: time + 1 });
      expect(await leave()).toMatchObject({ chargedMicro: 0, endReason: "client_gone" });
      test.clock.advance(60_000);
    }
    await test.checkBooks();
  });
});

describe("leaving before any upstream has the request costs nothing", () => {
  it("in the queue for a target", async () => {
    const upstream = { provider: "fake", model: "m", maxConcurrent: 1 };
    const test = await start({ upstream, maxQueued: 100, queueTimeoutMs: 60_000 });
    test.upstream.reply(hangBeforeHeaders());
    const first = test.call({});
    await test.upstream.nextRequest();
    for (let time = 0; time < times; time++) {
      const { leave } = test.call({});
      await expect.poll(() => test.gateway.health().models["acme/small"]?.queued, { interval: 1 }).toBe(1);
      expect(await leave()).toMatchObject({ chargedMicro: 0, endReason: "client_gone" });
    }
    expect((await first.leave()).chargedMicro).toBeGreaterThan(0);
    await test.checkBooks();
  });

  it.each(["cancel", "drain"] as const)("where the connection is refused (%s)", async (disconnect) => {
    const baseURL = `http://127.0.0.1:${await freePort()}/v1`;
    const test = await start(
      { upstream: [{ provider: "fake", model: "m" }], maxAttempts: 9, retryBudgetMs: 60_000, disconnect },
      { providers: { fake: openAICompatible({ baseURL }) } },
    );
    for (let time = 0; time < times; time++) {
      const { leave } = test.call({});
      const isRefused = () => (test.gateway.health().models["acme/small"]?.targets[0]?.failed ?? 0) > time;
      await expect.poll(() => isRefused(), { interval: 1 }).toBe(true);
      expect(await leave()).toMatchObject({ chargedMicro: 0, endReason: "client_gone" });
    }
    await test.checkBooks();
  });

  it.each(["cancel", "drain"] as const)("where the connection does not come up (%s)", async (disconnect) => {
    const sockets = new Set<Socket>();
    // It never answers the TLS handshake.
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    const baseURL = `https://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const test = await start(
      { disconnect: disconnect === "cancel" ? disconnect : { maxMs: 10 } },
      { providers: { fake: openAICompatible({ baseURL }) } },
    );
    for (let time = 0; time < times; time++) {
      const { leave } = test.call({ stream: time % 2 === 0 });
      await expect.poll(() => sockets.size, { interval: 1 }).toBe(time + 1);
      expect(await leave()).toMatchObject({ chargedMicro: 0, endReason: "client_gone" });
    }
    await test.checkBooks();
  });
});

async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
}
