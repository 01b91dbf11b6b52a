import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { toNodeHandler } from "../../../src/adapters/node.js";
import { GatewayError } from "../../../src/errors/gateway-error.js";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import type { ResponseGuard } from "../../../src/hooks/response-guard.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import type { DisconnectPolicy } from "../../../src/records/plans/plan-store.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import type { Gate } from "../../../src/testing/gate.js";
import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  ManualClock,
  toEventBytes,
  wholeAnswer,
} from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

interface Server extends TestGateway {
  /** A call whose client leaves when `leave` is called, which resolves when the gateway has been told. */
  call(stream: boolean): { leave(): Promise<void>; begun: Promise<unknown> };
  stock(): Promise<{ used: number; held: number }>;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start(disconnect: DisconnectPolicy | undefined, options: Partial<GatewayOptions> = {}): Promise<Server> {
  const ledger = memoryCreditLedger();
  const model: Model = disconnect === undefined ? smallModel : { ...smallModel, disconnect };
  const test = await startTestGateway({ ledger, models: [model], ...options });
  const handler = toNodeHandler(test.gateway);
  const closed: Promise<unknown>[] = [];
  const server = createServer((req, res) => {
    closed.push(new Promise((resolve) => res.once("close", resolve)));
    handler(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  closers.push(
    () => test.close(),
    () => new Promise((resolve) => server.close(resolve)),
  );
  return {
    ...test,
    call(stream) {
      const request = httpRequest({
        port,
        method: "POST",
        path: "/v1/chat/completions",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
      });
      request.on("error", () => {});
      const begun = new Promise((resolve) =>
        request.on("response", (response) => {
          response.on("error", () => {});
          response.once("data", resolve);
        }),
      );
      request.end(JSON.stringify({ model: "acme/small", stream, messages: [{ role: "user", content: "Hi" }] }));
      const leave = async () => {
        request.destroy();
        await Promise.all(closed);
        await new Promise((resolve) => setImmediate(resolve));
      };
      return { leave, begun };
    },
    async stock() {
      const credits = { session: 100e6, week: null, month: null };
      const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
      const { usedMicro, heldMicro } = (await ledger.balance("acct_pro", limits)).windows.session;
      return { used: usedMicro, held: heldMicro };
    },
  };
}

/** A stream of which the client has had the first words, and left. */
async function leaveStream(test: Server, text = "Hello brave new world"): Promise<Gate> {
  const gate = createGate();
  test.upstream.reply(eventStream(chatChunks(text), { gate }));
  const { begun, leave } = test.call(true);
  gate.step(3);
  await begun;
  await leave();
  return gate;
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
};

const chunkOf = (content: string) =>
  toEventBytes({ id: "1", choices: [{ index: 0, delta: { content }, finish_reason: null }] });

const ended = async (test: Server) => {
  await vi.waitFor(() => expect(test.events).toHaveLength(1), { timeout: 10_000, interval: 5 });
  return test.events[0];
};

describe("an answer whose client leaves", () => {
  it("is broken off at once, and charged as far as it came", async () => {
    const test = await start(undefined);
    await leaveStream(test);
    expect(await ended(test)).toMatchObject({
      endReason: "client_gone",
      disconnect: "cancelled",
      usageSource: "partial",
    });
    expect(await test.upstream.lastRequest.closed).toBe("broken");
  });

  it("is read to its end where that is asked for, and charged as reported", async () => {
    const test = await start("drain");
    const gate = await leaveStream(test);
    expect(test.events).toEqual([]);
    gate.open();
    expect(await ended(test)).toMatchObject({
      endReason: "client_gone",
      disconnect: "drained",
      usageSource: "provider",
      status: 200,
      chargedMicro: 39,
      attempts: [{ status: 200, outcome: "client_gone" }],
    });
    expect(await test.upstream.lastRequest.closed).toBe("completed");
    expect(await test.stock()).toEqual({ used: 39, held: 0 });
  });

  it.each([true, false])("is read to its end before anything of it has come (stream: %s)", async (stream) => {
    const test = await start("drain");
    const gate = createGate();
    test.upstream.reply(stream ? eventStream(chatChunks("Hello"), { gate }) : wholeAnswer(chatAnswer(), { gate }));
    const { leave } = test.call(stream);
    await test.upstream.nextRequest();
    await leave();
    gate.open();
    expect(await ended(test)).toMatchObject({
      status: 499,
      endReason: "client_gone",
      disconnect: "drained",
      usageSource: "provider",
      chargedMicro: 39,
    });
    expect(await test.stock()).toEqual({ used: 39, held: 0 });
  });

  it("is broken off after its time", async () => {
    const test = await start({ maxMs: 30 });
    await leaveStream(test);
    expect(await ended(test)).toMatchObject({
      endReason: "client_gone",
      disconnect: "drain_timed_out",
      usageSource: "partial",
    });
    expect(await test.upstream.lastRequest.closed).toBe("broken");
    const { used, held } = await test.stock();
    expect([used, held]).toEqual([test.events[0]?.chargedMicro, 0]);
  });

  it.each([
    ["before its first piece", true, []],
    ["in its middle", true, [chunkOf("Hello")]],
    ["as a whole one", false, [Buffer.from('{"choices":')]],
  ])("is broken off when the time of the whole call is up (%s)", async (shape, stream, pieces) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const body = async function* () {
      yield* pieces;
      await new Promise<never>(() => {});
    };
    const fake: UpstreamProvider = { call: async () => ({ status: 200, headers: {}, body: body() }) };
    const models: Model[] = [{ ...smallModel, disconnect: { maxMs: 60_000 }, capabilities: { reasoning: true } }];
    const clock = new ManualClock(Date.now());
    const test = await startTestGateway({ clock, maxResponseMs: 1000, providers: { fake }, models });
    const leaving = new AbortController();
    const answer = test.gateway.handler(new Request(chatRequest({ stream }), { signal: leaving.signal }));
    if (shape === "in its middle") await (await answer).body?.getReader().read();
    await turns();
    leaving.abort();
    clock.advance(1000);
    vi.advanceTimersByTime(1000);
    await turns();
    expect(test.events).toMatchObject([{ endReason: "client_gone", disconnect: "drain_timed_out" }]);
    // A second at the presumed rate, of which little was seen.
    expect(test.events[0]?.tokens.reasoning).toBeGreaterThan(150);
    expect(test.warnings).toEqual([]);
    expect(test.gateway.health().models["acme/small"]?.targets[0]).toMatchObject({ failed: 0 });
    await test.close();
  });

  it.each([
    ["a provider of the host's refuses it", 0],
    ["the upstream refuses it", 1],
  ])("costs the prompt alone, and that only where it may have come to a model: %s", async (_who, least) => {
    const gate = createGate();
    const call: UpstreamProvider["call"] = async () => {
      await gate.pass();
      if (least === 0) throw new GatewayError("Not this.", { status: 403, code: "policy" });
      return { status: 400, headers: {}, body: (async function* () {})() };
    };
    const test = await start("drain", { providers: { fake: { call } } });
    const { leave } = test.call(false);
    while (gate.waiting === 0) await turns();
    await leave();
    gate.open();
    const event = await ended(test);
    expect(event).toMatchObject({ endReason: "client_gone", tokens: { output: 0 } });
    expect(Math.sign(event?.chargedMicro ?? -1)).toBe(least);
  });

  it("is broken off beyond its tokens", async () => {
    const test = await start({ maxTokens: 20 });
    const gate = await leaveStream(test, "word ".repeat(100));
    gate.step(30);
    expect(await ended(test)).toMatchObject({
      endReason: "client_gone",
      disconnect: "drain_over_tokens",
      usageSource: "partial",
    });
    expect(await test.upstream.lastRequest.closed).toBe("broken");
    const output = test.events[0]?.tokens.output ?? 0;
    expect(output).toBeGreaterThan(20);
    expect(output).toBeLessThan(60);
  });

  it("is beyond its tokens also when all of it comes at once", async () => {
    const test = await start({ maxTokens: 20 });
    const gate = createGate();
    test.upstream.reply(wholeAnswer(chatAnswer({ content: "word ".repeat(400) }), { gate }));
    const { leave } = test.call(false);
    await test.upstream.nextRequest();
    await leave();
    gate.open();
    expect(await ended(test)).toMatchObject({ disconnect: "drain_over_tokens", usageSource: "partial" });
  });

  it("is charged as far as it came when the upstream fails", async () => {
    const test = await start("drain");
    const gate = createGate();
    test.upstream.reply(
      eventStream(chatChunks("Hello brave new world").slice(0, 4), { gate, end: "cut", done: false }),
    );
    const { begun, leave } = test.call(true);
    gate.step(3);
    await begun;
    await leave();
    gate.open();
    expect(await ended(test)).toMatchObject({
      endReason: "client_gone",
      disconnect: "drain_failed",
      usageSource: "partial",
    });
    expect(test.warnings).toMatchObject([{ code: "upstream_failed" }]);
  });

  it("is broken off when the gateway closes", async () => {
    const test = await start("drain");
    await leaveStream(test);
    await test.gateway.close();
    expect(test.events).toMatchObject([{ endReason: "shutdown" }]);
    expect((await test.stock()).held).toBe(0);
  });

  it.each([
    ["drain", "cancel", "drained"],
    ["cancel", "drain", "cancelled"],
  ] as const)("follows the plan (%s) before the model (%s)", async (plan, model, disconnect) => {
    const plans = memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 100 }, disconnect: plan } });
    const test = await start(model, { plans });
    const gate = await leaveStream(test);
    gate.open();
    expect(await ended(test)).toMatchObject({ endReason: "client_gone", disconnect });
  });

  it("goes on at another target only while its client is there", async () => {
    const upstream = [
      { provider: "fake", model: "first" },
      { provider: "fake", model: "second" },
    ];
    const test = await start("drain", { models: [{ ...smallModel, disconnect: "drain", upstream }] });
    const gate = createGate();
    test.upstream.reply(wholeAnswer("oops", { status: 500, gate }));
    const { leave } = test.call(false);
    await test.upstream.nextRequest();
    await leave();
    gate.open();
    expect(await ended(test)).toMatchObject({ status: 499, endReason: "client_gone", disconnect: "drain_failed" });
    expect(test.upstream.requests).toHaveLength(1);
    // It had the prompt before its client left.
    const [event] = test.events;
    expect(event).toMatchObject({ usageSource: "partial", tokens: { output: 0 } });
    expect(await test.stock()).toEqual({ used: event?.tokens.input, held: 0 });
    expect(event?.tokens.input).toBeGreaterThan(0);
  });
});

it("a client that reads to the end has no disconnect", async () => {
  const test = await start("drain");
  const { begun } = test.call(true);
  await begun;
  expect(await ended(test)).toMatchObject({ endReason: "completed" });
  expect(test.events[0]).not.toHaveProperty("disconnect");
});

describe("a guard of a client that has left", () => {
  it("runs no longer once all has come, with its usage", async () => {
    let signal: AbortSignal | undefined;
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const guard: ResponseGuard = {
      name: "slow",
      stream: "watch",
      timeoutMs: 600_000,
      answer: (answer) => {
        signal = answer.signal;
        begin();
        return new Promise<void>(() => {});
      },
    };
    const test = await start(undefined, { guards: [guard] });
    test.upstream.reply(eventStream(chatChunks("Hello")));
    const ended = test.nextEvent();
    const { leave, begun: hasBegun } = test.call(true);
    await hasBegun;
    await begun;
    expect(signal?.aborted).toBe(false);
    await leave();
    expect(await ended).toMatchObject({ usageSource: "provider", chargedMicro: 9 + 30 });
    expect(signal?.aborted).toBe(true);
  });
});
