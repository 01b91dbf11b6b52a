import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { afterEach, expect, it } from "vitest";
import { toNodeHandler } from "../../../../src/node.js";
import type { RequestLog } from "../../../../src/request-log/request-log.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { chatChunks, createGate, eventStream, hangBeforeHeaders } from "../../../../src/testing.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";
import { watchProcess } from "../../adapters/process-watch.js";

/** Of the file's end: no promise was left to reject, and no connection open. */
watchProcess();

let test: TestGateway;
let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await test.close();
});

async function start(store: RequestLog) {
  test = await startTestGateway({ requestLog: store });
  server = createServer(toNodeHandler(test.gateway));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return (apiKey: string) => new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
}

const chat = { model: "acme/small", messages: [{ role: "user" as const, content: "Hi." }] };

it("has a line for a client that leaves, and it counts as no failure", async () => {
  const store = memoryRequestLog();
  const client = await start(store);
  test.upstream.replyOnce(hangBeforeHeaders());
  const leaving = new AbortController();
  const call = client("sk-pro").chat.completions.create(chat, { signal: leaving.signal });
  const left = expect(call).rejects.toThrow(OpenAI.APIUserAbortError);
  const upstream = await test.upstream.nextRequest();
  const completed = test.nextEvent();
  leaving.abort();
  await left;
  await upstream.closed;
  const { requestId } = await completed;
  expect(await test.gateway.requests.get(requestId)).toMatchObject({
    ...{ status: 499, errorCode: "client_gone", endReason: "client_gone", account: "acct_pro" },
    target: "fake/upstream-small",
  });
  expect(await faultsOf(store)).toEqual([]);
});

it("has the error of a stream that broke off in its middle", async () => {
  const store = memoryRequestLog();
  const client = await start(store);
  const gate = createGate();
  test.upstream.replyOnce(eventStream(chatChunks("Hello wide world").slice(0, 3), { end: "reset", gate }));
  gate.step(4);
  const completed = test.nextEvent();
  const stream = await client("sk-pro").chat.completions.create({ ...chat, stream: true });
  const read = async () => {
    // What breaks off later does not take this from its client.
    for await (const _ of stream) gate.open();
  };
  const error = await read().catch((thrown: { code?: string }) => thrown);
  const { requestId } = await completed;
  const line = await test.gateway.requests.get(requestId);
  expect(line).toMatchObject({ status: 200, stream: true, endReason: "upstream_failed" });
  expect(line?.errorCode).toBe(error?.code);
  expect(line?.errorCode).toBeTruthy();
  expect(await faultsOf(store)).toMatchObject([{ refusals: 0, failures: 1 }]);
});

it("has few lines of a flood of wrong keys, and counts all of them", async () => {
  const store = memoryRequestLog();
  const client = await start(store);
  for (let times = 0; times < 100; times++) {
    await expect(client(`sk-wrong-${times}`).chat.completions.create(chat)).rejects.toMatchObject({ status: 401 });
  }
  await client("sk-pro").chat.completions.create(chat);
  await test.gateway.close();
  const { requests } = await store.list({ status: 401 });
  // The flood may last beyond the end of a minute.
  expect(requests.length).toBeLessThanOrEqual(42);
  expect(requests.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(100);
  expect(JSON.stringify(requests)).not.toContain("sk-wrong");
  expect((await store.list({ status: 200 })).requests).toHaveLength(1);
});

it.each<[string, () => unknown]>([
  [
    "throws before it has a promise",
    () => {
      throw new Error("at once");
    },
  ],
  ["returns nothing", () => undefined],
  ["rejects with nothing", () => Promise.reject()],
  [
    "has a promise that throws",
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: it is what a store may return
      then() {
        throw new Error("in then");
      },
    }),
  ],
  [
    "settles twice",
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: it is what a store may return
      then(resolve: () => void, reject: (cause: unknown) => void) {
        resolve();
        reject(new Error("second"));
      },
    }),
  ],
])("serves as ever with a store that %s", async (_, write) => {
  const client = await start({ ...memoryRequestLog(), write: write as RequestLog["write"] });
  for (let times = 0; times < 3; times++) {
    expect((await client("sk-pro").chat.completions.create(chat)).object).toBe("chat.completion");
  }
  await test.gateway.close();
  expect(test.gateway.health().requestLog?.waiting).toBe(0);
});

function faultsOf(store: RequestLog) {
  const now = Date.now();
  return store.counts({ periods: [now - 120_000, now + 120_000], by: [], where: {} });
}
