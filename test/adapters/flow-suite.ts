import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatChunks, type FakeAnswer, toEventBytes } from "../support/fake-upstream.js";
import { chatCall, readPieces } from "./client.js";
import { type Adapter, type HostedGateway, type Place, startHosted } from "./host.js";

const megabyte = 1024 * 1024;
const mostPieces = 3000;

/** A client that does not read what it gets. */
export function describeFlow(adapter: Adapter, place: Place): void {
  describe("a client that stops reading", () => {
    let test: HostedGateway;
    beforeAll(async () => {
      test = await startHosted(adapter, place);
    });
    afterAll(() => test.close());

    it("stops the upstream, costs no memory, and is settled for when it leaves", async () => {
      const flood = { written: 0 };
      test.upstream.replyOnce(floodOf(flood));
      const completed = test.nextEvent();
      const client = new AbortController();
      const before = process.memoryUsage();
      const init = chatCall({ stream: true }, { signal: client.signal });
      const response = await test.host.fetch(test.path("/v1/chat/completions"), init);
      expect(await readPieces(response).next()).toContain("data: ");
      await stalled(flood);
      expect(flood.written).toBeLessThan(mostPieces);
      const after = process.memoryUsage();
      expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(32 * megabyte);
      expect(after.heapUsed - before.heapUsed).toBeLessThan(64 * megabyte);
      const left = performance.now();
      client.abort();
      expect(await completed).toMatchObject({ status: 200, endReason: "client_gone" });
      expect(await test.upstream.lastRequest.closed).toBe("broken");
      expect(performance.now() - left).toBeLessThan(1000);
    });

    it("gets all of it when it reads on", async () => {
      test.upstream.replyOnce(floodOf({ written: 0 }, 300));
      const init = chatCall({ stream: true });
      const response = await test.host.fetch(test.path("/v1/chat/completions"), init);
      const text = await response.text();
      expect(text.length).toBeGreaterThan(300 * 64 * 1024);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    });
  });
}

/** Writes events of 64 KB as fast as they are taken, and counts them. */
function floodOf(flood: { written: number }, pieces = mostPieces): FakeAnswer {
  const [role, text, ...finish] = chatChunks("x".repeat(64 * 1024)).map(toEventBytes);
  return async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(role);
    const closed = once(response, "close");
    for (flood.written = 0; flood.written < pieces && !response.destroyed; flood.written++) {
      if (!response.write(text)) await Promise.race([drained(response), closed]);
    }
    for (const piece of finish) response.write(piece);
    response.end("data: [DONE]\n\n");
  };
}

function drained(response: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => response.once("drain", resolve));
}

/** Waits until nothing more has been written for a while. */
async function stalled(flood: { written: number }): Promise<void> {
  for (let last = -1; last !== flood.written; ) {
    last = flood.written;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
