import { createLiveRequests } from "infergate";
import { afterEach, expect, it } from "vitest";
import { chatChunks, errorBody, eventStream, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, getRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(() => test?.close());

it("lists a request from its arrival to its end, and nothing of what it says", async () => {
  const live = createLiveRequests();
  const seen: unknown[] = [];
  test = await startTestGateway({ observers: [live], onRequest: () => void seen.push(...live.list()) });
  test.upstream.reply(eventStream(chatChunks()));
  const messages = [{ role: "user", content: "MARKER" }];
  const response = await test.gateway.handler(chatRequest({ stream: true, messages }));
  const requestId = response.headers.get("x-request-id");
  const about = { requestId, endpoint: "chat/completions", startedAt: expect.any(Number) };
  expect(seen).toEqual([{ ...about, elapsedMs: expect.any(Number), state: "checking" }]);
  const [request] = live.list();
  expect(request).toEqual({
    ...about,
    elapsedMs: expect.any(Number),
    state: "streaming",
    account: "acct_pro",
    keyId: "key_pro",
    plan: "pro",
    model: "acme/small",
    stream: true,
    heldMicro: expect.any(Number),
    attempt: { provider: "fake", model: "upstream-small", number: 1 },
  });
  expect(request?.heldMicro).toBeGreaterThan(0);
  expect(JSON.stringify([request, seen])).not.toMatch(/MARKER|sk-/);
  await response.text();
  await test.gateway.handler(getRequest("/healthz", null));
  expect([live.list(), live.count, live.failures()]).toEqual([[], 0, []]);
});

it("keeps the last failures, the newest first, whatever the host does with its events", async () => {
  const live = createLiveRequests({ maxFailures: 2 });
  test = await startTestGateway({
    observers: [live],
    onRequestCompleted: (event) => {
      event.status = 0;
    },
  });
  test.upstream.replyOnce(eventStream(chatChunks().slice(0, 2), { end: "cut" }));
  await (await test.gateway.handler(chatRequest({ stream: true }))).text();
  expect(live.failures()).toMatchObject([{ status: 200, stream: true, attempts: [{ provider: "fake" }] }]);
  test.upstream.reply(wholeAnswer(errorBody("The disk is full."), { status: 500 }));
  const ids: (string | null)[] = [];
  for (let time = 0; time < 3; time++) {
    ids.push((await test.gateway.handler(chatRequest())).headers.get("x-request-id"));
    await test.gateway.handler(chatRequest({ model: "none" }));
  }
  expect(live.failures().map(({ requestId, status }) => [requestId, status])).toEqual([
    [ids[2], 502],
    [ids[1], 502],
  ]);
});

it("lists no more than it may, and counts the others", async () => {
  const live = createLiveRequests({ maxRequests: 2 });
  test = await startTestGateway({ observers: [live] });
  test.upstream.reply(eventStream(chatChunks()));
  const { handler } = test.gateway;
  const open = await Promise.all([1, 2, 3].map(() => handler(chatRequest({ stream: true }))));
  expect([live.list().length, live.count]).toEqual([2, 3]);
  for (const response of open) await response.text();
  expect([live.list().length, live.count]).toEqual([0, 0]);
});

it.each([{ maxRequests: 0 }, { maxFailures: 1.5 }, { maxFailures: 1e9 }])("refuses %j", (options) => {
  expect(() => createLiveRequests(options)).toThrow(TypeError);
});
