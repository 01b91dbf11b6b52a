import { AsyncLocalStorage } from "node:async_hooks";
import type { Observer } from "infergate";
import { afterEach, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import { chatRequest, getRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(() => test?.close());

function fail(): never {
  throw new Error("An observer's mistake.");
}

it("harms no request by an observer that throws everywhere, and says so once", async () => {
  const broken: Observer = {
    onStart: fail,
    onRequest: () => ({
      run: fail,
      runAttempt: fail,
      traceHeaders: fail,
      onAttempt: fail,
      onResponse: fail,
      onCompleted: fail,
    }),
    onWarning: fail,
    onLedgerEvent: fail,
    close: fail,
  };
  test = await startTestGateway({
    observers: [{ onRequest: fail }, broken, { onRequest: () => ({ onCompleted: async () => fail() }) }],
  });
  for (const stream of [false, true]) {
    const response = await test.gateway.handler(chatRequest({ stream }));
    expect([response.status, (await response.text()).length > 100]).toEqual([200, true]);
  }
  expect(test.events.map(({ status }) => status)).toEqual([200, 200]);
  expect(test.upstream.requests).toHaveLength(2);
  expect(test.warnings.map(({ code }) => code)).toEqual(["hook_failed"]);
});

it("harms no request by an observer that is async, and rejects everywhere", async () => {
  const rejected: unknown[] = [];
  const note = (cause: unknown): void => void rejected.push(cause);
  process.on("unhandledRejection", note);
  const failLater = async (): Promise<never> => fail();
  const broken = {
    onStart: failLater,
    onRequest: () => ({
      run: failLater,
      runAttempt: failLater,
      traceHeaders: failLater,
      onAttempt: failLater,
      onResponse: failLater,
      onCompleted: failLater,
    }),
    onWarning: failLater,
    onLedgerEvent: failLater,
    close: failLater,
  } as unknown as Observer;
  test = await startTestGateway({ observers: [{ onRequest: failLater as unknown as () => undefined }, broken] });
  for (const stream of [false, true]) {
    const response = await test.gateway.handler(chatRequest({ stream }));
    expect([response.status, (await response.text()).length > 100]).toEqual([200, true]);
  }
  await test.close();
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  expect(rejected).toEqual([]);
  expect(test.events.map(({ status }) => status)).toEqual([200, 200]);
  expect(test.warnings.map(({ code }) => code)).toEqual(["hook_failed"]);
});

it.each<[string, unknown]>([
  ["a promise", Promise.resolve({ traceparent: "late" })],
  ["a text", "traceparent"],
  ["a value that no header can have", { traceparent: "a\r\nx-evil: 1" }],
  ["a name that no header can have", { "trace parent": "1" }],
  ["what is no text", { traceparent: 1 }],
  ["the operator's key", { Authorization: "Bearer of-the-observer" }],
  ["the length of the body", { "content-length": "1" }],
])("sends a call without the headers of an observer that are %s, and says so", async (_, headers) => {
  test = await startTestGateway({
    observers: [
      { onRequest: () => ({ traceHeaders: () => headers as Record<string, string>, onCompleted: () => {} }) },
    ],
  });
  const response = await test.gateway.handler(chatRequest());
  expect([response.status, test.upstream.requests.length]).toEqual([200, 1]);
  expect(JSON.stringify(test.upstream.requests[0]?.headers)).not.toMatch(/evil|late|of-the-observer/);
  expect(test.warnings.map(({ code }) => code)).toEqual(["hook_failed"]);
});

it("logs a request as it was, whatever an observer writes into its event", async () => {
  const store = memoryRequestLog();
  const spoil = (event: object) => {
    for (const name of Object.keys(event)) Reflect.deleteProperty(event, name);
  };
  test = await startTestGateway({
    requestLog: store,
    onRequestCompleted: () => {},
    observers: [{ onRequest: () => ({ onCompleted: spoil }) }],
  });
  expect((await test.gateway.handler(chatRequest())).status).toBe(200);
  const { requests } = await test.gateway.requests.list();
  expect(requests).toMatchObject([{ account: "acct_pro", status: 200, attempts: [{ provider: "fake" }] }]);
});

it("tells of a request in its order", async () => {
  const told: unknown[] = [];
  const observer: Observer = {
    onStart: ({ health }) => told.push(Object.keys(health().models).length),
    onRequest: ({ requestId, endpoint, method, header }) => {
      told.push(endpoint, method, header("content-type"));
      return {
        onAttempt: (attempt) => told.push(attempt),
        onResponse: (status) => told.push(status),
        onCompleted: (event) => told.push(event.requestId === requestId, event.endReason),
      };
    },
    close: () => void told.push("closed"),
  };
  test = await startTestGateway({ observers: [observer] });
  await (await test.gateway.handler(chatRequest({ stream: true }))).text();
  await test.gateway.handler(getRequest("/healthz", null));
  await test.gateway.close();
  const attempt = { provider: "fake", model: "upstream-small" };
  expect(told).toEqual([4, "chat/completions", "POST", "application/json", attempt, 200, true, "completed", "closed"]);
});

it("does the work of a request within what an observer puts around it, and of none beside", async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  test = await startTestGateway({
    observers: [
      {
        onRequest: ({ requestId }) => ({
          run: (work) => storage.run(`request ${requestId}`, work),
          runAttempt: (call) => storage.run(`attempt ${requestId}`, call),
          onCompleted: () => {},
        }),
      },
    ],
    onRequest: () => void seen.push(storage.getStore()),
    providers: {
      fake: {
        call: async (call) => {
          seen.push(storage.getStore());
          return openAICompatible({ baseURL: test?.upstream.url ?? "" }).call(call);
        },
      },
    },
  });
  const { handler } = test.gateway;
  const all = await Promise.all(Array.from({ length: 20 }, () => handler(chatRequest())));
  const ids = all.map(({ headers }) => headers.get("x-request-id"));
  expect(all.every(({ status }) => status === 200)).toBe(true);
  expect(seen.toSorted()).toEqual(
    [...ids.map((id) => `attempt ${id}`), ...ids.map((id) => `request ${id}`)].toSorted(),
  );
  expect(storage.getStore()).toBeUndefined();
});

it("waits for observers when it closes, but not for ever", async () => {
  test = await startTestGateway({ observers: [{ close: () => new Promise(() => {}) }] });
  await test.gateway.close();
});
