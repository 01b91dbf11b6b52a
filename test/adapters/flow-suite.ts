import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatCall, readPieces } from "./client.js";
import { floodOf, mostPieces, stalled } from "./flood.js";
import { type Adapter, type HostedGateway, type Place, startHosted } from "./host.js";

const megabyte = 1024 * 1024;

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
      client.abort();
      expect(await completed).toMatchObject({ status: 200, endReason: "client_gone" });
      expect(await test.upstream.lastRequest.closed).toBe("broken");
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
