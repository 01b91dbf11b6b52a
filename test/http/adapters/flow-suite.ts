import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Adapter, type HostedGateway, type Place, startHosted } from "../../support/adapters/host.js";
import { chatCall, readPieces } from "./client.js";
import { floodOf, mostPieces, stalled } from "./flood.js";

const megabyte = 1024 * 1024;

/** A client that does not read what it gets. */
export function describeFlow(adapter: Adapter, place: Place): void {
  describe("a client that stops reading", () => {
    let test: HostedGateway;
    beforeAll(async () => {
      test = await startHosted(adapter, place);
    });
    afterAll(() => test.close());

    it("is given up after a while, and settled for", async () => {
      // Hono logs it.
      const logged = vi.spyOn(console, "error").mockImplementation(() => {});
      const impatient = await startHosted(adapter, place, { maxStallMs: 400 });
      const flood = { written: 0 };
      impatient.upstream.replyOnce(floodOf(flood));
      const completed = impatient.nextEvent();
      const response = await impatient.host.fetch(impatient.path("/v1/chat/completions"), chatCall({ stream: true }));
      const pieces = readPieces(response);
      expect(await pieces.next()).toContain("data: ");
      expect(await completed).toMatchObject({
        status: 200,
        endReason: "client_gone",
        disconnect: "cancelled",
        stalled: true,
        usageSource: "partial",
      });
      expect(flood.written).toBeLessThan(mostPieces);
      expect(await impatient.upstream.lastRequest.closed).toBe("broken");
      // What is on the way may still be read; then the connection turns out to be broken.
      await expect(
        (async () => {
          while ((await pieces.next()) !== undefined);
        })(),
      ).rejects.toThrow();
      await impatient.close();
      logged.mockRestore();
    });

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
