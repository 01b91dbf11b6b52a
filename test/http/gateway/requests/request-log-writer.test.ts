import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { GatewayWarning } from "../../../../src/events/warning.js";
import type { LoggedRequest, RequestLog } from "../../../../src/request-log/request-log.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { chatRequest, getRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway | undefined;
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(async () => {
  let isClosed = false;
  void test?.close().finally(() => {
    isClosed = true;
  });
  while (!isClosed) await vi.advanceTimersByTimeAsync(500);
  vi.useRealTimers();
});

function logThat(write: RequestLog["write"]): RequestLog {
  return { ...memoryRequestLog(), write };
}

const dropped = (warnings: readonly GatewayWarning[]) => warnings.filter(({ code }) => code === "request_log_dropped");

it("a store that hangs gets one batch, holds no call up, and what finds no room is dropped and counted", async () => {
  let calls = 0;
  const store = logThat(() => {
    calls++;
    return new Promise(() => {});
  });
  test = await startTestGateway({ requestLog: { store, maxQueuedRows: 5 } });
  for (let times = 0; times < 12; times++) {
    expect((await test.gateway.handler(getRequest("/v1/models"))).status).toBe(200);
    await vi.advanceTimersByTimeAsync(600);
  }
  expect(calls).toBe(1);
  expect(test.gateway.health().requestLog).toEqual({ waiting: 5, dropped: 7 });
  expect(dropped(test.warnings)).toHaveLength(1);
});

it("a batch that fails is written again, and no line twice", async () => {
  const kept = memoryRequestLog();
  let failures = 2;
  const store = logThat(async (lines) => {
    await kept.write(lines);
    if (failures-- > 0) throw new Error("connection lost");
  });
  test = await startTestGateway({ requestLog: store });
  await test.gateway.handler(getRequest("/v1/models"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await kept.list()).requests).toHaveLength(1);
  expect(test.gateway.health().requestLog).toEqual({ waiting: 0, dropped: 0 });
  expect(test.warnings).toEqual([]);
});

it("a batch that fails for good is dropped, told once with its cause, and the next one is written", async () => {
  const cause = new Error("disk full");
  const written: LoggedRequest[] = [];
  let isFull = true;
  const store = logThat(async (lines) => {
    if (isFull) throw cause;
    written.push(...lines);
  });
  test = await startTestGateway({ requestLog: store });
  await test.gateway.handler(getRequest("/v1/models"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(dropped(test.warnings)).toMatchObject([{ cause, message: expect.stringContaining("1 more lines") }]);
  isFull = false;
  await test.gateway.handler(getRequest("/v1/models"));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(written).toHaveLength(1);
});

it("a flood of refusals takes few lines, and all are counted", async () => {
  const store = memoryRequestLog();
  const now = Date.now();
  const clock = { now: () => now };
  test = await startTestGateway({ requestLog: store, clock });
  for (let times = 0; times < 500; times++) await test.gateway.handler(chatRequest({}, `sk-wrong-${times}`));
  await test.gateway.handler(getRequest("/v1/nowhere"));
  await test.gateway.close();
  const { requests } = await store.list({ limit: 1_000 });
  expect(requests).toHaveLength(22);
  expect(requests.filter(({ count }) => count !== undefined)).toMatchObject([{ status: 401, count: 480 }]);
  const periods = [now - 120_000, now + 120_000];
  expect(await store.counts({ periods, by: [], where: {} })).toMatchObject([{ refusals: 501, failures: 0 }]);
});

it("is written when the gateway closes", async () => {
  const store = memoryRequestLog();
  test = await startTestGateway({ requestLog: store });
  await test.gateway.handler(getRequest("/v1/models"));
  await test.gateway.close();
  expect((await store.list()).requests).toHaveLength(1);
});

it("each request of an isolate writes what waits, and waits for no other one's batch", async () => {
  const written: LoggedRequest[] = [];
  let hangs = true;
  const store = logThat(async (lines) => {
    const isFirst = hangs;
    hangs = false;
    if (isFirst) return new Promise<void>(() => {});
    written.push(...lines);
  });
  test = await startTestGateway({ requestLog: store, isolate: true });
  const works: Promise<unknown>[] = [];
  const waitUntil = (work: Promise<unknown>) => void works.push(work);
  await test.gateway.handler(getRequest("/v1/models"), { waitUntil });
  await vi.advanceTimersByTimeAsync(0);
  await test.gateway.handler(getRequest("/v1/models"), { waitUntil });
  await works[1];
  expect(written).toHaveLength(1);
  expect(test.gateway.health().requestLog).toEqual({ waiting: 1, dropped: 0 });
  await vi.advanceTimersByTimeAsync(30_000);
  await works[0];
});

it("a store that fails in an isolate is tried again by the request whose lines they are", async () => {
  const kept = memoryRequestLog();
  let failures = 2;
  const store = logThat(async (lines) => {
    if (failures-- > 0) throw new Error("connection lost");
    await kept.write(lines);
  });
  test = await startTestGateway({ requestLog: store, isolate: true });
  const works: Promise<unknown>[] = [];
  await test.gateway.handler(getRequest("/v1/models"), { waitUntil: (work) => void works.push(work) });
  await vi.advanceTimersByTimeAsync(2_200);
  await works[0];
  expect((await kept.list()).requests).toHaveLength(1);
});

it("lines of a request that has ended as it wrote them are written by a later one, and take no room for ever", async () => {
  const written: string[][] = [];
  let isFirst = true;
  const store = logThat(async (lines) => {
    if (isFirst) {
      isFirst = false;
      return new Promise<void>(() => {});
    }
    written.push(lines.map(({ requestId }) => requestId));
  });
  test = await startTestGateway({ requestLog: store, isolate: true, requestId: (request) => request.header("x-call") });
  const works: Promise<unknown>[] = [];
  const call = (id: string) => {
    const request = getRequest("/v1/models");
    request.headers.set("x-call", id);
    return test?.gateway.handler(request, { waitUntil: (work) => void works.push(work) });
  };
  await call("first");
  await vi.advanceTimersByTimeAsync(0);
  await call("second");
  await works[1];
  expect(written).toEqual([["second"]]);
  const { now } = performance;
  performance.now = () => now.call(performance) + 36_000;
  await call("third");
  await works[2];
  performance.now = now;
  expect(written[1]?.sort()).toEqual(["first", "third"]);
  expect(test.gateway.health().requestLog).toEqual({ waiting: 0, dropped: 0 });
});

it.each([false, true])(
  "refusals beyond 20 alike are written by idle(), in one line with their number (isolate: %s)",
  async (isolate) => {
    const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 30, 10));
    const store = memoryRequestLog({ clock });
    test = await startTestGateway({ requestLog: store, isolate, clock });
    const refuse = async () => {
      expect((await test?.gateway.handler(getRequest("/v1/models", "sk-wrong")))?.status).toBe(401);
    };
    for (let times = 0; times < 25; times++) await refuse();
    await test.gateway.idle();
    const { requests } = await store.list();
    expect(requests).toHaveLength(21);
    expect(requests.filter(({ count }) => count !== undefined)).toMatchObject([{ status: 401, count: 5 }]);
  },
);

it("an isolate writes the line of many refusals with the first request of a later minute", async () => {
  const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 30, 10));
  const store = memoryRequestLog({ clock });
  const work: Promise<unknown>[] = [];
  test = await startTestGateway({ requestLog: store, isolate: true, clock, waitUntil: (one) => void work.push(one) });
  for (let times = 0; times < 25; times++) await test.gateway.handler(getRequest("/v1/models", "sk-wrong"));
  await Promise.all(work);
  expect((await store.list()).requests).toHaveLength(20);
  clock.advance(60_000);
  await test.gateway.handler(getRequest("/v1/models"));
  await Promise.all(work);
  const { requests } = await store.list();
  expect(requests).toHaveLength(22);
  expect(requests.filter(({ count }) => count !== undefined)).toMatchObject([{ status: 401, count: 5 }]);
});
