import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import {
  chatChunks,
  createGate,
  eventStream,
  type FakeRequest,
  hangBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { type Adapter, type HostedGateway, type Place, startHosted } from "../../support/adapters/host.js";
import { openRaw, postHead } from "../../support/adapters/raw-connection.js";
import { chatCall, eventually, readPieces } from "./client.js";

/** Clients that leave before their answer is complete. */
export function describeDepartures(adapter: Adapter, place: Place): void {
  describe("a client that leaves", () => {
    let test: HostedGateway;
    beforeAll(async () => {
      test = await startHosted(adapter, place);
    });
    afterAll(() => test.close());
    afterEach(async () => {
      expect((await call()).status, "the host is still there").toBe(200);
    });
    const call = (body = {}, init = {}) => test.host.fetch(test.path("/v1/chat/completions"), chatCall(body, init));

    it.each([true, false])(
      "before the answer ends the call to the upstream, and pays for the prompt (stream: %s)",
      async (stream) => {
        const known = test.upstream.requests.length;
        test.upstream.replyOnce(hangBeforeHeaders());
        const completed = test.nextEvent();
        const client = new AbortController();
        const answer = call({ stream }, { signal: client.signal }).catch((error: Error) => error.name);
        const upstream = await callAfter(known, test);
        client.abort();
        expect(await upstream.closed).toBe("broken");
        const event = await completed;
        expect(event).toMatchObject({ status: 499, endReason: "client_gone", disconnect: "cancelled" });
        const { input } = event.tokens;
        expect(event).toMatchObject({ usageSource: "partial", tokens: { input, output: 0 }, chargedMicro: input });
        expect(input).toBeGreaterThan(0);
        // A caller of the handler itself sees what no HTTP client sees.
        expect(await answer).toEqual(
          test.host.origin === undefined ? expect.objectContaining({ status: 499 }) : "AbortError",
        );
      },
    );

    it.each(["cancels the body", "aborts the request"])(
      "mid-stream ends the call to the upstream (%s)",
      async (how) => {
        const gate = createGate();
        const known = test.upstream.requests.length;
        test.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
        gate.step(3);
        const completed = test.nextEvent();
        const client = new AbortController();
        const response = await call({ stream: true }, { signal: client.signal });
        const pieces = readPieces(response);
        expect(await pieces.next()).toContain("data: ");
        const upstream = await callAfter(known, test);
        const next = pieces.next().catch((error: Error) => error.name);
        if (how === "cancels the body") await pieces.cancel();
        else client.abort();
        expect(await upstream.closed).toBe("broken");
        expect(await completed).toMatchObject({ status: 200, endReason: "client_gone", usageSource: "partial" });
        await next;
      },
    );

    it("while it is sending its request calls no upstream", async () => {
      const calls = test.upstream.requests.length;
      const completed = test.nextEvent();
      const client = new AbortController();
      const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('{"model":')) });
      const { signal } = client;
      const answer = call({}, { body, duplex: "half", signal }).catch((error: Error) => error.name);
      await eventually(() => body.locked);
      client.abort();
      await answer;
      if (test.host.origin === undefined) expect(await completed).toMatchObject({ status: 499 });
      expect(test.upstream.requests.length).toBe(calls);
    });

    it.runIf(adapter.hasServer)("mid-upload is not answered", async () => {
      const calls = test.upstream.requests.length;
      const completed = test.nextEvent();
      const connection = await openRaw(test.host.origin);
      connection.send(postHead(test.path("/v1/chat/completions"), "expect: 100-continue", "content-length: 1000"));
      // The host has read the head.
      await connection.until("100 Continue");
      connection.send('{"model":');
      connection.socket.destroy();
      expect(await completed).toMatchObject({ status: 499 });
      expect(test.upstream.requests.length).toBe(calls);
    });

    it.each([true, false])("just when the answer is there does no harm (stream: %s)", async (stream) => {
      for (let attempt = 0; attempt < 20; attempt++) {
        const gate = createGate();
        test.upstream.replyOnce(stream ? eventStream(chatChunks("Hello"), { gate }) : wholeAnswer(undefined, { gate }));
        const completed = test.nextEvent();
        const client = new AbortController();
        const answer = call({ stream }, { signal: client.signal })
          .then((response) => response.text())
          .catch(() => {});
        await eventually(() => gate.waiting === 1);
        gate.open();
        for (let turn = 0; turn < attempt; turn++) await new Promise((resolve) => setImmediate(resolve));
        client.abort();
        await answer;
        await completed;
      }
    });
  });
}

/** The first request to the upstream after the `known` ones. */
async function callAfter(known: number, { upstream }: HostedGateway): Promise<FakeRequest> {
  await eventually(() => upstream.requests.length > known);
  return upstream.lastRequest;
}
