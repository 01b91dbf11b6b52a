import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { BodyError, BodyLimits } from "../../../src/http/message.js";
import { ArrivingBody } from "../../../src/http/request-body.js";
import { collectGarbage } from "../../support/collect-garbage.js";

const limits: BodyLimits = {
  maxBytes: 64 * 1024 * 1024,
  timeoutMs: 30_000,
  minBytesPerSecond: 1000,
  arrived: () => undefined,
};

function start(changes: Partial<BodyLimits> = {}) {
  const failures: BodyError[] = [];
  const body = new ArrivingBody({ ...limits, ...changes }, (error) => failures.push(error));
  return { body, failures };
}

afterEach(() => void vi.useRealTimers());

describe("a body on its way", () => {
  it("is what came, in whatever pieces", () => {
    const sizes = fc.oneof(fc.nat(20), fc.nat(5000), fc.integer({ min: 15_000, max: 70_000 }));
    fc.assert(
      fc.property(fc.array(sizes, { maxLength: 60 }), (lengths) => {
        const { body } = start();
        const pieces = lengths.map((length, index) => Buffer.alloc(length, String.fromCharCode(65 + (index % 60))));
        for (const piece of pieces) body.take(piece);
        const whole = body.end();
        expect(Buffer.compare(whole ?? Buffer.from("over"), Buffer.concat(pieces))).toBe(0);
        expect(body.end()).toBeUndefined();
      }),
      { numRuns: 200 },
    );
  });

  it("takes about its own size of memory, also when it comes byte by byte", () => {
    const { body } = start();
    const packet = Buffer.alloc(64 * 1024, "x");
    const bytes = 2 * 1024 * 1024;
    collectGarbage();
    const before = process.memoryUsage();
    for (let taken = 0; taken < bytes; taken++)
      body.take(packet.subarray(taken % packet.length, (taken % packet.length) + 1));
    collectGarbage();
    const after = process.memoryUsage();
    const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    expect(grown / bytes).toBeLessThan(4);
    expect(body.end()?.length).toBe(bytes);
  });

  it("keeps no more memory than it needs of pieces that are parts of something larger, as those of HTTP/2 are", async () => {
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    const bodies = Array.from({ length: 50 }, () => {
      const { body } = start();
      for (let piece = 0; piece < 15; piece++) body.take(new Uint8Array(64 * 1024).fill(65 + piece).subarray(100, 110));
      body.take(new Uint8Array(128 * 1024).fill(90).subarray(0, 16 * 1024));
      return body;
    });
    // Buffers go by and by after the collection that has found nobody who holds them.
    await vi.waitFor(() => {
      collectGarbage();
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * 80 * 1024);
    });
    const expected = Buffer.concat([
      ...Array.from({ length: 15 }, (_, piece) => Buffer.alloc(10, 65 + piece)),
      Buffer.alloc(16 * 1024, 90),
    ]);
    for (const body of bodies) expect(Buffer.compare(body.end() ?? Buffer.alloc(0), expected)).toBe(0);
  });

  it("may be too slow before its time is over", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const { body, failures } = start();
    body.take(Buffer.alloc(31 * 1024 * 1024));
    vi.advanceTimersByTime(10_000);
    body.take(Buffer.alloc(9_999));
    vi.advanceTimersByTime(9_000);
    expect(failures).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(failures).toMatchObject([{ failure: "too_slow" }]);
    expect(body.end()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("may take all of its time at the lowest speed, or where there is none", () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const slow = start();
    const idle = start({ minBytesPerSecond: 0 });
    for (let second = 0; second < 29; second++) {
      slow.body.take(Buffer.alloc(1000));
      vi.advanceTimersByTime(1_000);
    }
    expect([...slow.failures, ...idle.failures]).toEqual([]);
    expect(slow.body.end()?.length).toBe(29_000);
    vi.advanceTimersByTime(1_000);
    expect(idle.failures).toMatchObject([{ failure: "too_slow" }]);
  });

  it("is given up when it is too large, or when there is no room for it", () => {
    const large = start({ maxBytes: 10 });
    large.body.take(Buffer.alloc(10));
    large.body.take(Buffer.alloc(1));
    let told = 0;
    const roomless = start({
      arrived: (bytes) => {
        told += bytes;
        return told > 5 ? "no_room" : undefined;
      },
    });
    for (const length of [2, 3, 1, 7]) roomless.body.take(Buffer.alloc(length));
    expect(large.failures).toMatchObject([{ failure: "too_large" }]);
    expect(roomless.failures).toMatchObject([{ failure: "no_room" }]);
    expect(told).toBe(6);
  });
});
