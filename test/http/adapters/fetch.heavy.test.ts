import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toFetchHandler } from "../../../src/fetch.js";
import { fetchAdapter, honoAdapter, routeHandlersAdapter } from "../../support/adapters/fetch-adapter.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { describeAdapter } from "./adapter-suite.js";
import { chatCall } from "./client.js";

describeAdapter(fetchAdapter);
describeAdapter(honoAdapter);
describeAdapter(routeHandlersAdapter);

describe("fetch handler", () => {
  let test: TestGateway;
  beforeEach(async () => {
    test = await startTestGateway();
  });
  afterEach(() => test.close());
  const requestOf = (init: RequestInit) => new Request("http://gateway.test/v1/chat/completions", init);

  it("calls no upstream for a client that has gone already", async () => {
    const response = await toFetchHandler(test.gateway)(requestOf(chatCall({}, { signal: AbortSignal.abort() })));
    expect(response.status).toBe(499);
    expect(test.upstream.requests).toEqual([]);
  });

  it("takes a body that somebody has read, or holds, for an empty one", async () => {
    const [read, held] = [requestOf(chatCall()), requestOf(chatCall())];
    await read.text();
    held.body?.getReader();
    for (const request of [read, held]) expect((await toFetchHandler(test.gateway)(request)).status).toBe(400);
  });

  it.each([false, true])("leaves no listener on the request's signal (stream: %s)", async (stream) => {
    const request = requestOf(chatCall({ stream }));
    const before = getEventListeners(request.signal, "abort").length;
    await (await toFetchHandler(test.gateway)(request)).text();
    expect(getEventListeners(request.signal, "abort").length).toBe(before);
  });
});
