import { afterEach, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import {
  chatChunks,
  createGate,
  errorBody,
  eventStream,
  type FakeUpstream,
  hangAfterHeaders,
  hangBeforeHeaders,
  honestChat,
  rawAnswer,
  resetBeforeHeaders,
  sampleUsage,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { chatRequest, readEvents, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

interface Pair extends TestGateway {
  a: FakeUpstream;
  b: FakeUpstream;
  stock(): Promise<{ used: number; held: number }>;
}

/** For what a loaded machine does a little later. */
const waiting = { timeout: 10_000 };
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const both: Model["upstream"] = [
  { provider: "a", model: "upstream-a" },
  { provider: "b", model: "upstream-b" },
];

/** A gateway whose one model can go to two servers. */
async function start(model: Partial<Model> = {}, options: Partial<GatewayOptions> = {}): Promise<Pair> {
  const a = await startFakeUpstream();
  const b = await startFakeUpstream();
  const ledger = memoryCreditLedger();
  const test = await startTestGateway({
    ledger,
    models: [{ ...smallModel, upstream: both, ...model }],
    providers: { a: openAICompatible({ baseURL: a.url }), b: openAICompatible({ baseURL: b.url }) },
    ...options,
  });
  closers.push(
    () => a.close(),
    () => b.close(),
    () => test.close(),
  );
  return {
    ...test,
    a,
    b,
    async stock() {
      const credits = { session: 100e6, week: null, month: null };
      const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
      const { usedMicro, heldMicro } = (await ledger.balance("acct_pro", limits)).windows.session;
      return { used: usedMicro, held: heldMicro };
    },
  };
}

const call = ({ gateway }: TestGateway, body: Record<string, unknown> = {}) => gateway.handler(chatRequest(body));
const targetsOf = ({ gateway }: TestGateway) => gateway.health().models["acme/small"]?.targets ?? [];
const counts = ({ a, b }: Pair) => [a.requests.length, b.requests.length];
const serverError = wholeAnswer(errorBody("Oops."), { status: 500 });

describe("the order of targets", () => {
  it("is that of the array", async () => {
    const test = await start();
    for (let index = 0; index < 5; index++) await (await call(test)).text();
    expect(counts(test)).toEqual([5, 0]);
    expect(test.a.lastRequest.json.model).toBe("upstream-a");
  });

  it("is that of their priorities, where they are given", async () => {
    const upstream = [
      { provider: "a", model: "upstream-a", priority: 2 },
      { provider: "b", model: "upstream-b", priority: 1 },
    ];
    const test = await start({ upstream });
    await (await call(test)).text();
    expect(counts(test)).toEqual([0, 1]);
    expect(targetsOf(test).map(({ provider }) => provider)).toEqual(["b", "a"]);
  });

  it.each([
    ["neighbours with a weight", { weight: 1000 }, { weight: 1 }],
    ["equal priorities", { priority: 1, weight: 1000 }, { priority: 1 }],
  ])("shares the calls of %s", async (_name, first, second) => {
    // Drawn so that the thousandth part is hit once.
    const random = vi.spyOn(Math, "random");
    closers.push(async () => random.mockRestore());
    const upstream = [
      { provider: "a", model: "upstream-a", ...first },
      { provider: "b", model: "upstream-b", ...second },
    ];
    const test = await start({ upstream });
    random.mockReturnValueOnce(0.5).mockReturnValueOnce(0.5);
    await (await call(test)).text();
    expect(counts(test)).toEqual([1, 0]);
    random.mockReturnValueOnce(0.999).mockReturnValueOnce(0.000_001);
    await (await call(test)).text();
    expect(counts(test)).toEqual([1, 1]);
  });
});

describe("one target", () => {
  it("is called once, as before, however often it fails", async () => {
    const test = await start({ upstream: { provider: "a", model: "upstream-a" } });
    test.a.reply(serverError);
    for (let index = 0; index < 8; index++) expect((await call(test)).status).toBe(502);
    expect(counts(test)).toEqual([8, 0]);
    expect(targetsOf(test)).toEqual([
      { provider: "a", model: "upstream-a", state: "closed", active: 0, answered: 0, failed: 8 },
    ]);
    expect(test.warnings).toHaveLength(8);
  });

  it("is called again where that is asked for", async () => {
    const test = await start({ upstream: { provider: "a", model: "upstream-a" }, maxAttempts: 3 });
    test.a.replyOnce(wholeAnswer(errorBody("Slow."), { status: 429, headers: { "retry-after-ms": "20" } }));
    // The first is on a kept connection, and no failure of the target: it is sent once more on a new one.
    test.a.replyOnce(resetBeforeHeaders());
    test.a.replyOnce(resetBeforeHeaders());
    const response = await call(test, { stream: true });
    expect(response.status).toBe(200);
    expect((await readEvents(response)).at(-1)).toBe("[DONE]");
    expect(test.events[0]?.attempts.map(({ outcome }) => outcome)).toEqual([
      "upstream_refused",
      "upstream_failed",
      "completed",
    ]);
    expect(await test.stock()).toEqual({ used: 39, held: 0 });
  });
});

describe("charging", () => {
  it("holds for the dearest target, and charges for the one that answered", async () => {
    const [first] = [both].flat();
    const upstream = [
      { ...first, provider: "a", model: "upstream-a" },
      { provider: "b", model: "upstream-b", price: { input: 7, output: 70 } },
    ];
    const test = await start({ upstream });
    const gate = createGate();
    test.a.reply(eventStream(chatChunks("Hello world"), { gate }));
    const response = call(test, { stream: true, max_tokens: 100 });
    await test.a.nextRequest();
    const { held } = await test.stock();
    expect(held).toBeGreaterThan(70 * 100);
    gate.open();
    await (await response).text();
    expect(await test.stock()).toEqual({ used: 39, held: 0 });
    test.a.reply(serverError);
    await (await call(test)).text();
    expect(await test.stock()).toEqual({ used: 39 + 9 * 7 + 3 * 70, held: 0 });
  });

  it.each([
    [false, 0],
    [true, 39],
  ])("charges what a failed target reports, if the option says so: %s", async (chargeFailedAttempts, extra) => {
    const usage = { ...sampleUsage };
    const [usageChunk] = chatChunks("Hello", { usage }).slice(-1);
    const failures = {
      whole: wholeAnswer({ error: { message: "Oops.", type: "server_error" }, usage }),
      status: wholeAnswer({ ...errorBody("Oops."), usage }, { status: 500 }),
      stream: eventStream([usageChunk ?? {}, { error: { message: "Oops.", type: "server_error" } }]),
      event: eventStream([{ error: { message: "Oops.", type: "server_error" }, usage }]),
    };
    for (const [name, failure] of Object.entries(failures)) {
      const stream = name === "stream" || name === "event";
      const test = await start({ chargeFailedAttempts });
      test.a.reply(failure);
      expect((await call(test, { stream }).then((response) => response.text())).length).toBeGreaterThan(100);
      expect({ name, ...(await test.stock()) }).toEqual({ name, used: 39 + extra, held: 0 });
      expect(test.events[0]).toMatchObject({ chargedMicro: 39 + extra, attempts: [{}, { outcome: "completed" }] });
      expect(test.events[0]?.tokens.input).toBe(extra === 0 ? 9 : 18);
      test.b.reply(failure);
      expect((await call(test, { stream })).status).toBe(502);
      expect({ name, ...(await test.stock()) }).toEqual({ name, used: 39 + 3 * extra, held: 0 });
    }
  });
});

describe("a target's own time-out", () => {
  it.each([
    ["before the headers", false, hangBeforeHeaders()],
    ["before the headers", true, hangBeforeHeaders()],
    ["after the headers", false, hangAfterHeaders({ headers: { "content-type": "application/json" } })],
    ["after the headers", true, hangAfterHeaders()],
  ])("gives the next one its turn: silence %s (stream: %s)", async (_name, stream, answer) => {
    const upstream = [
      { provider: "a", model: "upstream-a", timeoutMs: 200 },
      { provider: "b", model: "upstream-b" },
    ];
    // Comments that keep a stream alive must not end the search.
    const test = await start({ upstream }, { keepAliveMs: 10 });
    test.a.reply(answer);
    const response = await call(test, { stream });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("Hello");
    expect(await test.a.lastRequest.closed).toBe("broken");
    expect(test.events[0]?.attempts).toMatchObject([{ outcome: "upstream_timeout" }, { outcome: "completed" }]);
    expect(await test.stock()).toEqual({ used: 39, held: 0 });
  });

  it("does not cut an answer that has begun", async () => {
    const upstream = [
      { provider: "a", model: "upstream-a", timeoutMs: 400 },
      { provider: "b", model: "upstream-b" },
    ];
    const test = await start({ upstream });
    const gate = createGate();
    test.a.reply(eventStream(chatChunks("Hello world"), { gate }));
    gate.step(2);
    const response = await call(test, { stream: true });
    await new Promise((resolve) => setTimeout(resolve, 500));
    gate.open();
    expect((await readEvents(response)).at(-1)).toBe("[DONE]");
    expect(counts(test)).toEqual([1, 0]);
  });

  it.each([false, true])("does not send a request that is settled to the next one (stream: %s)", async (stream) => {
    const ledger = memoryCreditLedger();
    const settling = createGate();
    const settle: typeof ledger.settle = async (...ending) => {
      settling.open();
      await new Promise((resolve) => setTimeout(resolve, 120));
      return ledger.settle(...ending);
    };
    const prompt: UpstreamProvider = {
      async call() {
        const text = stream
          ? [...chatChunks("Hi").map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"].join("")
          : JSON.stringify({ choices: [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }] });
        const body = (async function* () {
          yield Buffer.from(text);
        })();
        return { status: 200, headers: { "content-type": stream ? "text/event-stream" : "application/json" }, body };
      },
    };
    const upstream = [
      { provider: "prompt", model: "prompt", timeoutMs: 60 },
      { provider: "b", model: "upstream-b" },
    ];
    const b = await startFakeUpstream();
    closers.push(() => b.close());
    const providers = { prompt, b: openAICompatible({ baseURL: b.url }) };
    const test = await start({ upstream }, { providers, ledger: { ...ledger, settle } });
    const response = await call(test, { stream });
    expect(await response.text()).toContain("Hi");
    await settling.pass();
    expect(b.requests).toHaveLength(0);
    expect(test.events).toMatchObject([{ attempts: [{ outcome: "completed" }] }]);
  });

  it("holds for a provider that does not heed its signal, whatever that one does later", async () => {
    const gate = createGate();
    let isRead = false;
    const honest = openAICompatible({ baseURL: "http://127.0.0.1:1/v1" });
    const deaf: UpstreamProvider = {
      ...honest,
      async call() {
        await gate.pass();
        const body = lateResponse(() => {
          isRead = true;
        });
        return { status: 200, headers: { "content-type": "application/json" }, body };
      },
    };
    const upstream = [
      { provider: "deaf", model: "deaf", timeoutMs: 30 },
      { provider: "b", model: "upstream-b" },
    ];
    const b = await startFakeUpstream();
    closers.push(() => b.close());
    const test = await start({ upstream }, { providers: { deaf, b: openAICompatible({ baseURL: b.url }) } });
    const response = await call(test);
    gate.open();
    expect(await response.text()).toContain("Hello world");
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(isRead).toBe(false);
    expect(test.events).toHaveLength(1);
    expect(await test.stock()).toEqual({ used: 39, held: 0 });
  });
});

describe.each([false, true])("a body that does not heed its attempt's end (stream: %s)", (stream) => {
  it("is read no more, and does not count for the target that answers", async () => {
    const late = createGate();
    let pieces = 0;
    let isLeft = false;
    const deaf: UpstreamProvider = {
      async call() {
        const body = (async function* () {
          try {
            for (;;) {
              await late.pass();
              pieces++;
              yield Buffer.from(stream ? `data: ${JSON.stringify(chatChunks("late")[0])}\n\n` : " ");
            }
          } finally {
            isLeft = true;
          }
        })();
        return { status: 200, headers: { "content-type": stream ? "text/event-stream" : "application/json" }, body };
      },
    };
    const upstream = [
      { provider: "deaf", model: "deaf", timeoutMs: 30 },
      { provider: "b", model: "upstream-b" },
    ];
    const b = await startFakeUpstream();
    closers.push(() => b.close());
    const test = await start({ upstream }, { providers: { deaf, b: openAICompatible({ baseURL: b.url }) } });
    const text = await (await call(test, { stream })).text();
    expect(text).toContain(stream ? "world" : "Hello world");
    late.open();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(pieces).toBeLessThanOrEqual(1);
    expect(isLeft).toBe(true);
    expect(test.events).toHaveLength(1);
  });
});

function lateResponse(onRead: () => void): AsyncIterable<Uint8Array> {
  return (async function* () {
    onRead();
    yield Buffer.from(JSON.stringify({ choices: [{ index: 0, message: { content: "" }, finish_reason: "stop" }] }));
  })();
}

describe("health", () => {
  it("shows a breaker that opens, keeps calls away and closes again", async () => {
    let now = Date.now();
    const test = await start({ breaker: { consecutiveFailures: 2, openMs: 1000 } }, { clock: { now: () => now } });
    test.a.reply(serverError);
    for (let index = 0; index < 4; index++) expect((await call(test)).status).toBe(200);
    expect(counts(test)).toEqual([2, 4]);
    expect(test.gateway.health()).toEqual({
      ledgers: [{ outages: 0, kept: 0, lost: 0 }],
      models: {
        "acme/small": {
          available: true,
          queued: 0,
          targets: [
            {
              provider: "a",
              model: "upstream-a",
              state: "open",
              active: 0,
              answered: 0,
              failed: 2,
              consecutiveFailures: 2,
              failureRate: 1,
              availableAt: now + 1000,
            },
            {
              provider: "b",
              model: "upstream-b",
              state: "closed",
              active: 0,
              answered: 4,
              failed: 0,
              consecutiveFailures: 0,
              failureRate: 0,
            },
          ],
        },
      },
    });
    now += 1000;
    test.a.reply(honestChat());
    // A stream shows with its first event that all is well: others need not wait for its end.
    const gate = createGate();
    test.a.replyOnce(eventStream(chatChunks("Hello world"), { gate }));
    const probing = call(test, { stream: true });
    await vi.waitFor(() => expect(targetsOf(test)[0]).toMatchObject({ state: "half_open", active: 1 }), waiting);
    await (await call(test)).text();
    expect(counts(test)).toEqual([3, 5]);
    gate.step(2);
    await probing;
    expect(targetsOf(test)[0]).toMatchObject({ state: "closed", active: 1 });
    gate.open();
    await (await probing).text();
    expect(targetsOf(test)[0]).toMatchObject({ state: "closed", active: 0, answered: 1 });
  });

  it("serves at once when the servers are well again, although all breakers are open, many calls at once, too", async () => {
    let now = Date.now();
    const model = { breaker: { consecutiveFailures: 1 }, queueTimeoutMs: 60_000 };
    const test = await start(model, { clock: { now: () => now } });
    test.a.reply(serverError);
    test.b.reply(serverError);
    // Half an hour of failures: each breaker would wait for a minute.
    for (let minute = 0; minute < 30; minute++) {
      expect((await call(test)).status).toBe(502);
      now += 60_000;
    }
    expect((await call(test)).status).toBe(502);
    expect(targetsOf(test).map(({ state }) => state)).toEqual(["open", "open"]);
    // Who takes the process out of service would take out all of them.
    const ready = await test.gateway.handler(new Request("http://gateway.test/readyz"));
    expect([ready.status, test.gateway.health().models["acme/small"]?.available]).toEqual([200, false]);
    test.a.reply(honestChat());
    test.b.reply(honestChat());
    const answers = await Promise.all(Array.from({ length: 20 }, () => call(test)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  });

  it("learns nothing about a target from a client that leaves, or is at fault", async () => {
    const test = await start({ breaker: { consecutiveFailures: 1 } });
    test.a.replyOnce(hangBeforeHeaders());
    const leaving = new AbortController();
    const response = test.gateway.handler(new Request(chatRequest(), { signal: leaving.signal }));
    await test.a.nextRequest();
    leaving.abort();
    expect((await response).status).toBe(499);
    test.a.replyOnce(wholeAnswer(errorBody("No.", { param: "temperature" }), { status: 400 }));
    expect((await call(test)).status).toBe(400);
    expect(targetsOf(test)[0]).toMatchObject({ state: "closed", active: 0, answered: 1, failed: 0 });
  });

  it("leaves a target alone for as long as it asks", async () => {
    let now = Date.now();
    const test = await start({}, { clock: { now: () => now } });
    test.a.replyOnce(wholeAnswer(errorBody("Slow."), { status: 429, headers: { "retry-after": "20" } }));
    for (let index = 0; index < 3; index++) expect((await call(test)).status).toBe(200);
    expect(counts(test)).toEqual([1, 3]);
    expect(targetsOf(test)[0]).toMatchObject({ state: "resting", availableAt: now + 20_000 });
    now += 20_000;
    await (await call(test)).text();
    expect(counts(test)).toEqual([2, 3]);
  });

  it("says on the console which request it was that failed over, and was answered", async () => {
    const logged = vi.spyOn(console, "warn").mockImplementation(() => {});
    closers.push(async () => logged.mockRestore());
    const test = await start({}, { onWarning: undefined });
    test.a.reply(serverError);
    const response = await call(test);
    expect(response.status).toBe(200);
    expect(logged.mock.calls).toEqual([
      [
        expect.stringMatching(
          new RegExp(`^infergate: .*"a" failed.* \\[upstream_failed, ${response.headers.get("x-request-id")}\\]$`),
        ),
      ],
    ]);
  });

  it("tells the host of every attempt that failed, once", async () => {
    const test = await start();
    test.a.reply(serverError);
    test.b.reply(resetBeforeHeaders());
    expect((await call(test)).status).toBe(502);
    expect(test.warnings.map(({ code, message }) => [code, message])).toEqual([
      [
        "upstream_failed",
        expect.stringContaining('provider "a" failed for the model "acme/small" (there "upstream-a")'),
      ],
      [
        "upstream_failed",
        expect.stringContaining('provider "b" failed for the model "acme/small" (there "upstream-b")'),
      ],
    ]);
  });
});

describe("a limit on concurrent calls", () => {
  const upstream = { provider: "a", model: "upstream-a", maxConcurrent: 1 };

  it("makes further calls wait their turn, and refuses those beyond the queue", async () => {
    const test = await start({ upstream, maxQueued: 1, queueTimeoutMs: 60_000 });
    const gate = createGate();
    test.a.reply(eventStream(chatChunks("Hello world"), { gate }));
    const first = call(test, { stream: true });
    await test.a.nextRequest();
    const second = call(test);
    await vi.waitFor(
      () => expect(test.gateway.health().models["acme/small"]).toMatchObject({ available: false, queued: 1 }),
      waiting,
    );
    const third = await call(test);
    expect([third.status, third.headers.get("retry-after"), third.headers.get("x-should-retry")]).toEqual([
      429,
      "1",
      null,
    ]);
    expect(await third.json()).toMatchObject({ error: { code: "rate_limit_exceeded", type: "requests" } });
    expect(test.events.at(-1)).toMatchObject({ status: 429, attempts: [], chargedMicro: 0 });
    expect(counts(test)).toEqual([1, 0]);
    test.a.reply(honestChat());
    gate.open();
    await (await first).text();
    expect((await second).status).toBe(200);
    expect(targetsOf(test)).toMatchObject([{ active: 0, answered: 2 }]);
    expect(await test.stock()).toEqual({ used: 2 * 39, held: 0 });
  });

  it("lets those who wait try a target whose breaker has opened meanwhile, one after the other", async () => {
    const test = await start({
      upstream,
      queueTimeoutMs: 60_000,
      retryBudgetMs: 0,
      breaker: { consecutiveFailures: 1 },
    });
    const gate = createGate();
    test.a.reply(wholeAnswer(errorBody("No."), { status: 500, gate }));
    const first = call(test);
    await test.a.nextRequest();
    const others = [call(test), call(test)];
    await expect.poll(() => test.gateway.health().models["acme/small"]?.queued).toBe(2);
    gate.open();
    const answers = await Promise.all([first, ...others]);
    expect(answers.map(({ status }) => status)).toEqual([502, 502, 502]);
    expect(counts(test)).toEqual([3, 0]);
    expect(test.gateway.health().models["acme/small"]).toMatchObject({
      queued: 0,
      targets: [{ state: "open", active: 0 }],
    });
    expect(await test.stock()).toEqual({ used: 0, held: 0 });
  });

  it("refuses a call that waited too long", async () => {
    const test = await start({ upstream, queueTimeoutMs: 20 });
    test.a.reply(hangBeforeHeaders());
    const leaving = new AbortController();
    const first = test.gateway.handler(new Request(chatRequest(), { signal: leaving.signal }));
    await test.a.nextRequest();
    expect((await call(test)).status).toBe(429);
    leaving.abort();
    await first;
    expect(test.gateway.health().models["acme/small"]).toMatchObject({ available: true, queued: 0 });
  });

  it("lets a client leave the queue, which costs nothing", async () => {
    const test = await start({ upstream, queueTimeoutMs: 60_000 });
    const gate = createGate();
    test.a.replyOnce(eventStream(chatChunks("Hello world"), { gate }));
    const first = call(test, { stream: true });
    await test.a.nextRequest();
    const leaving = new AbortController();
    const second = test.gateway.handler(new Request(chatRequest(), { signal: leaving.signal }));
    await vi.waitFor(() => expect(test.gateway.health().models["acme/small"]?.queued).toBe(1), waiting);
    leaving.abort();
    expect((await second).status).toBe(499);
    expect(test.gateway.health().models["acme/small"]?.queued).toBe(0);
    gate.open();
    await (await first).text();
    expect(counts(test)).toEqual([1, 0]);
    expect(targetsOf(test)).toMatchObject([{ active: 0 }]);
    expect(await test.stock()).toEqual({ used: 39, held: 0 });
  });

  it("sends what does not fit to the next target", async () => {
    const test = await start({ upstream: [upstream, { provider: "b", model: "upstream-b" }] });
    const gate = createGate();
    test.a.reply(eventStream(chatChunks("Hello world"), { gate }));
    const first = call(test, { stream: true });
    await test.a.nextRequest();
    await (await call(test)).text();
    expect(counts(test)).toEqual([1, 1]);
    gate.open();
    await (await first).text();
  });
});

describe("a client that leaves between attempts", () => {
  it.each(["cancel", "drain"] as const)("ends them at once (%s)", async (disconnect) => {
    const test = await start({ upstream: { provider: "a", model: "upstream-a" }, maxAttempts: 3, disconnect });
    test.a.reply(wholeAnswer(errorBody("Slow."), { status: 429, headers: { "retry-after": "9" } }));
    const leaving = new AbortController();
    const response = test.gateway.handler(new Request(chatRequest(), { signal: leaving.signal }));
    await vi.waitFor(() => expect(targetsOf(test)[0]?.state).toBe("resting"), waiting);
    leaving.abort();
    expect((await response).status).toBe(499);
    expect(test.events).toMatchObject([
      { status: 499, endReason: "client_gone", disconnect: "cancelled", attempts: [{ status: 429 }], chargedMicro: 0 },
    ]);
    expect(await test.stock()).toEqual({ used: 0, held: 0 });
  });

  it("pays nothing for what the failed one had sent", async () => {
    const test = await start({
      upstream: { provider: "a", model: "upstream-a" },
      maxAttempts: 3,
      retryBudgetMs: 60_000,
    });
    const random = vi.spyOn(Math, "random").mockReturnValue(0.99);
    closers.push(async () => random.mockRestore());
    const part = JSON.stringify({ choices: [{ message: { content: "x".repeat(300) } }] });
    const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n";
    test.a.reply(rawAnswer([`${head}${part}`]));
    const leaving = new AbortController();
    const response = test.gateway.handler(new Request(chatRequest(), { signal: leaving.signal }));
    await vi.waitFor(() => expect(targetsOf(test)[0]?.failed).toBe(1), { ...waiting, interval: 1 });
    leaving.abort();
    expect((await response).status).toBe(499);
    expect(test.events).toMatchObject([{ endReason: "client_gone", chargedMicro: 0, attempts: [{ status: 200 }] }]);
    expect(await test.stock()).toEqual({ used: 0, held: 0 });
  });

  it("is not waited for when the gateway closes", async () => {
    const test = await start({ upstream: { provider: "a", model: "upstream-a" }, maxAttempts: 3 });
    test.a.reply(wholeAnswer(errorBody("Slow."), { status: 429, headers: { "retry-after": "9" } }));
    const response = call(test);
    await vi.waitFor(() => expect(targetsOf(test)[0]?.state).toBe("resting"), waiting);
    await test.gateway.close();
    expect((await response).status).toBe(503);
    expect(await test.stock()).toEqual({ used: 0, held: 0 });
  });
});
