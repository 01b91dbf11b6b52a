import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  hangAfterHeaders,
  hangBeforeHeaders,
  toEventBytes,
  wholeAnswer,
} from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function start(options: Partial<GatewayOptions> = {}) {
  const ledger = memoryCreditLedger();
  const test = await startTestGateway({ ledger, ...options });
  return {
    ...test,
    async stock() {
      const credits = { session: 100e6, week: null, month: null };
      const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
      const { usedMicro, heldMicro } = (await ledger.balance("acct_pro", limits)).windows.session;
      return { used: usedMicro, held: heldMicro };
    },
  };
}

const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** The text of the next piece; `undefined` at the end. */
function readerOf(response: Response): () => Promise<string | undefined> {
  const reader = response.body?.getReader();
  return async () => {
    const piece = await reader?.read();
    return piece?.value === undefined ? undefined : Buffer.from(piece.value).toString();
  };
}

const word = toEventBytes({ id: "1", choices: [{ index: 0, delta: { content: "word " }, finish_reason: null }] });

/** A provider that goes on whatever its signal says. @param next - the body's pieces. */
function heedless(next: (count: number) => Uint8Array | Promise<Uint8Array>) {
  let [asked, left] = [0, 0];
  const iterator: AsyncIterator<Uint8Array> = {
    next: async () => ({ done: false, value: await next(asked++) }),
    return: async () => ({ done: true, value: ++left }),
  };
  const body = { [Symbol.asyncIterator]: () => iterator };
  const provider: UpstreamProvider = { call: async () => ({ status: 200, headers: {}, body }) };
  return { provider, asked: () => asked, left: () => left };
}

describe("a stream that nobody reads", () => {
  it.each(["never", "after its first piece"])("is ended, settled and told of (read: %s)", async (read) => {
    const test = await start({ maxStallMs: 80 });
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide brave world"), { gate }));
    gate.step(4);
    const ended = test.nextEvent();
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    const reader = response.body?.getReader();
    if (read !== "never") await reader?.read();
    expect((await test.stock()).held).toBeGreaterThan(0);
    const event = await ended;
    expect(event).toMatchObject({
      status: 200,
      endReason: "client_gone",
      disconnect: "cancelled",
      stalled: true,
      usageSource: "partial",
    });
    expect(event.chargedMicro).toBeGreaterThan(0);
    expect(await test.stock()).toEqual({ used: event.chargedMicro, held: 0 });
    expect(await test.upstream.lastRequest.closed).toBe("broken");
    await expect(reader?.read()).rejects.toThrow("took nothing of its answer for 80 ms");
    await test.close();
  });

  it("is read to its end where that is asked for", async () => {
    const test = await start({ maxStallMs: 80, models: [{ ...smallModel, disconnect: "drain" }] });
    const ended = test.nextEvent();
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    expect(await ended).toMatchObject({ endReason: "client_gone", disconnect: "drained", stalled: true });
    expect(test.events[0]?.usageSource).toBe("provider");
    expect(await test.upstream.lastRequest.closed).toBe("completed");
    await expect(response.text()).rejects.toThrow("took nothing");
    await test.close();
  });

  it("is left alone while it waits for the upstream, or is read slowly", async () => {
    const test = await start({ maxStallMs: 160, keepAliveMs: 10_000 });
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide brave world"), { gate }));
    gate.step(2);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    const reader = response.body?.getReader();
    for (let read = 0; read < 3; read++) {
      await pause(80);
      expect((await reader?.read())?.done).toBe(false);
      gate.step();
    }
    expect((await reader?.read())?.done).toBe(false);
    const rest = reader?.read();
    await pause(500);
    expect(test.events).toEqual([]);
    gate.open();
    await rest;
    while (!(await reader?.read())?.done) await pause(80);
    expect(test.events).toMatchObject([{ endReason: "completed" }]);
    expect(test.events[0]).not.toHaveProperty("stalled");
    await test.close();
  });

  it("of one long event is seen to be read piece by piece", async () => {
    const test = await start({ maxStallMs: 200 });
    const long = "x".repeat(1024 * 1024);
    test.upstream.reply(eventStream(chatChunks(long)));
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    const reader = response.body?.getReader();
    let text = "";
    for (;;) {
      await pause(20);
      const piece = await reader?.read();
      if (piece?.done !== false) break;
      expect(piece.value.length).toBeLessThanOrEqual(128 * 1024);
      text += Buffer.from(piece.value).toString();
    }
    expect(text).toContain(long);
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    expect(test.events).toMatchObject([{ endReason: "completed" }]);
    await test.close();
  });
});

describe("an answer that takes too long", () => {
  const maxResponseMs = 1000;
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it.each([false, true])("is a 504 before it has begun (stream: %s)", async (stream) => {
    const test = await start({ maxResponseMs });
    test.upstream.reply(hangBeforeHeaders());
    const answer = test.gateway.handler(chatRequest({ stream }));
    await test.upstream.nextRequest();
    vi.advanceTimersByTime(maxResponseMs - 1);
    expect(test.events).toEqual([]);
    vi.advanceTimersByTime(1);
    const response = await answer;
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ error: { code: "upstream_timeout" } });
    expect(test.events).toMatchObject([
      { status: 504, endReason: "upstream_timeout", errorCode: "upstream_timeout", chargedMicro: 0 },
    ]);
    expect(await test.upstream.lastRequest.closed).toBe("broken");
    expect(await test.stock()).toEqual({ used: 0, held: 0 });
    await test.close();
  });

  it("ends with an error event after it has begun, and is charged as far as it came", async () => {
    const test = await start({ maxResponseMs });
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide brave world"), { gate }));
    gate.step(4);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
    let text = "";
    while (!text.includes("wide")) text += await read();
    vi.advanceTimersByTime(maxResponseMs);
    const last = await read();
    expect(await reader?.read()).toMatchObject({ done: true });
    expect(JSON.parse(last.slice("data: ".length))).toMatchObject({ error: { code: "upstream_timeout" } });
    const [event] = test.events;
    expect(event).toMatchObject({ endReason: "upstream_timeout", usageSource: "partial" });
    expect(await test.stock()).toEqual({ used: event?.chargedMicro, held: 0 });
    expect(await test.upstream.lastRequest.closed).toBe("broken");
    // A target that was at work has not failed.
    expect(test.gateway.health().models["acme/small"]?.targets[0]).toMatchObject({ failed: 0 });
    await test.close();
  });

  it("is settled also when nobody reads it", async () => {
    const test = await start({ maxResponseMs });
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide brave world"), { gate }));
    gate.step(4);
    const ended = test.nextEvent();
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    vi.advanceTimersByTime(maxResponseMs);
    expect(test.events).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(await ended).toMatchObject({ endReason: "upstream_timeout" });
    expect((await test.stock()).held).toBe(0);
    await response.body?.cancel();
    expect(test.events).toHaveLength(1);
    await test.close();
  });

  it.each([
    ["before the status", false, "call"],
    ["before the status", true, "call"],
    ["in its body", false, "body"],
    ["in its body", true, "body"],
  ])(
    "of a provider that does not heed its signal %s ends all the same (stream: %s)",
    async (_where, stream, silent) => {
      const never = new Promise<never>(() => {});
      let left = 0;
      const body = {
        [Symbol.asyncIterator]: () => ({
          next: () => never,
          return: async () => ({ done: true as const, value: ++left }),
        }),
      } as unknown as AsyncIterable<Uint8Array>;
      const provider: UpstreamProvider = {
        call: async () => (silent === "call" ? await never : { status: 200, headers: {}, body }),
      };
      const test = await start({ maxResponseMs, providers: { fake: provider } });
      const answer = test.gateway.handler(chatRequest({ stream }));
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(maxResponseMs);
      const response = await answer;
      expect(response.status).toBe(504);
      expect(test.events).toMatchObject([{ endReason: "upstream_timeout" }]);
      expect((await test.stock()).held).toBe(0);
      await test.close();
    },
  );

  it("ends also in the middle of a stream that falls silent, at once", async () => {
    const pieces = chatChunks("Hello world").slice(0, 2).map(toEventBytes);
    const { provider, left } = heedless((count) => pieces[count] ?? new Promise<never>(() => {}));
    const test = await start({ maxResponseMs, keepAliveMs: 60_000, providers: { fake: provider } });
    const read = readerOf(await test.gateway.handler(chatRequest({ stream: true })));
    await read();
    await read();
    const last = read();
    await turns();
    vi.advanceTimersByTime(maxResponseMs);
    expect(JSON.parse(((await last) ?? "").slice("data: ".length))).toMatchObject({
      error: { code: "upstream_timeout" },
    });
    expect(await read()).toBeUndefined();
    expect(left()).toBe(1);
    await test.close();
  });

  it.each([
    ["reads on", 0],
    ["reads on when it was settled for", 1000],
  ])("ends for a client that %s, and nothing comes to it unpaid", async (_when, laterMs) => {
    const { provider, asked, left } = heedless(() => word);
    const test = await start({ maxResponseMs, providers: { fake: provider } });
    const read = readerOf(await test.gateway.handler(chatRequest({ stream: true })));
    for (let piece = 0; piece < 3; piece++) expect(await read()).toContain("word");
    vi.advanceTimersByTime(maxResponseMs);
    await turns();
    vi.advanceTimersByTime(laterMs);
    await turns();
    const before = asked();
    const rest = [];
    for (let piece = await read(); piece !== undefined && rest.length < 10; piece = await read()) rest.push(piece);
    expect(rest).toHaveLength(1);
    expect(rest[0]).toContain('"upstream_timeout"');
    expect([asked(), left()]).toEqual([before, 1]);
    expect(test.events).toMatchObject([{ endReason: "upstream_timeout", usageSource: "partial" }]);
    expect(test.events[0]?.tokens.output).toBeGreaterThanOrEqual(3);
    expect(await test.stock()).toEqual({ used: test.events[0]?.chargedMicro, held: 0 });
    await test.close();
  });

  it("ends when the gateway closes, too", async () => {
    const { provider, left } = heedless(() => word);
    const test = await start({ providers: { fake: provider } });
    const read = readerOf(await test.gateway.handler(chatRequest({ stream: true })));
    await read();
    const closed = test.close();
    await turns();
    vi.advanceTimersByTime(1);
    expect(await read()).toContain('"service_unavailable"');
    expect(await read()).toBeUndefined();
    expect(left()).toBe(1);
    expect(test.events).toMatchObject([{ endReason: "shutdown" }]);
    await closed;
  });

  it.each([
    ["its time is up", 504],
    ["its client leaves", 499],
    ["the gateway closes", 503],
  ])("is not read on when %s, if it is a whole one", async (why, status) => {
    const { provider, asked, left } = heedless(() => new Promise((resolve) => setImmediate(resolve, word)));
    const test = await start({ maxResponseMs, providers: { fake: provider } });
    const leaving = new AbortController();
    const answer = test.gateway.handler(new Request(chatRequest(), { signal: leaving.signal }));
    while (asked() < 3) await turns();
    const closed = status === 503 ? test.gateway.close() : undefined;
    await turns();
    vi.advanceTimersByTime(1);
    if (why === "its time is up") vi.advanceTimersByTime(maxResponseMs);
    if (why === "its client leaves") leaving.abort();
    expect((await answer).status).toBe(status);
    const before = asked();
    await turns();
    expect([asked(), left()]).toEqual([before, 1]);
    await closed;
    await test.close();
  });

  it("ends the whole call, whichever target it is at", async () => {
    const test = await start({
      maxResponseMs,
      models: [{ ...smallModel, upstream: [smallModel.upstream, smallModel.upstream].flat(), maxAttempts: 4 }],
    });
    test.upstream.reply(hangAfterHeaders());
    const answer = test.gateway.handler(chatRequest({ stream: true }));
    await test.upstream.nextRequest();
    vi.advanceTimersByTime(maxResponseMs);
    expect((await answer).status).toBe(504);
    expect(test.events[0]?.attempts).toHaveLength(1);
    await test.close();
  });

  it("leaves no timer behind that was in time", async () => {
    const counts = [];
    for (const limit of [undefined, maxResponseMs]) {
      const test = await start({ maxResponseMs: limit });
      test.upstream.reply(wholeAnswer(chatAnswer()));
      const before = vi.getTimerCount();
      expect((await test.gateway.handler(chatRequest())).status).toBe(200);
      counts.push(vi.getTimerCount() - before);
      await test.close();
    }
    expect(counts[1]).toBe(counts[0]);
  });
});
