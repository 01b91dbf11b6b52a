import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Breaker } from "../../../src/routing/breaker.js";

const fail = (breaker: Breaker, times: number, now = 0) => {
  for (let call = 0; call < times; call++) breaker.failed(now, breaker.enter(now));
};

describe("a circuit breaker", () => {
  it("opens on failures in a row, and not before", () => {
    const breaker = new Breaker({ consecutiveFailures: 3 });
    fail(breaker, 2);
    breaker.succeeded(0);
    fail(breaker, 2);
    expect(breaker.state(0)).toBe("closed");
    fail(breaker, 1);
    expect(breaker.state(0)).toBe("open");
    expect(breaker.availableAt).toBe(5_000);
  });

  it("opens on the rate of failures, once there are enough calls", () => {
    const breaker = new Breaker({ consecutiveFailures: 100, failureRate: 0.5, minimumCalls: 10 });
    for (let call = 0; call < 4; call++) {
      breaker.succeeded(call);
      fail(breaker, 1, call);
    }
    expect([breaker.state(4), breaker.failureRate(4)]).toEqual(["closed", 0.5]);
    breaker.succeeded(5);
    fail(breaker, 1, 5);
    expect(breaker.state(5)).toBe("open");
  });

  it("forgets calls that are older than its window", () => {
    const breaker = new Breaker({ consecutiveFailures: 100, minimumCalls: 4, windowMs: 1000 });
    fail(breaker, 3, 0);
    breaker.succeeded(1100);
    expect(breaker.failureRate(1100)).toBe(0);
    fail(breaker, 1, 1100);
    expect([breaker.state(1100), breaker.failureRate(1100)]).toEqual(["closed", 0.5]);
  });

  it("lets one call try, and closes when that is answered", () => {
    const breaker = new Breaker({ consecutiveFailures: 1, openMs: 1000 });
    fail(breaker, 1);
    expect(breaker.state(999)).toBe("open");
    expect(breaker.state(1000)).toBe("half_open");
    expect(breaker.enter(1000)).toBe(true);
    expect(breaker.availableAt).toBe(Number.POSITIVE_INFINITY);
    breaker.close();
    expect([breaker.state(1000), breaker.availableAt, breaker.enter(1000)]).toEqual(["closed", 0, false]);
  });

  it("opens for its first time again once it has been closed", () => {
    const breaker = new Breaker({ consecutiveFailures: 1, openMs: 1000 });
    fail(breaker, 1);
    breaker.failed(1000, breaker.enter(1000));
    expect(breaker.availableAt).toBe(3000);
    breaker.enter(1000);
    breaker.close();
    fail(breaker, 1, 5000);
    expect(breaker.availableAt).toBe(6000);
  });

  it("stays open twice as long after each try that fails, up to a minute", () => {
    const breaker = new Breaker({ consecutiveFailures: 1, openMs: 10_000 });
    fail(breaker, 1);
    const times = [];
    for (let now = breaker.availableAt; times.length < 5; now = breaker.availableAt) {
      breaker.failed(now, breaker.enter(now));
      times.push(breaker.availableAt - now);
    }
    expect(times).toEqual([20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  it("stays open no longer after a try that did not wait for its time", () => {
    const breaker = new Breaker({ consecutiveFailures: 1, openMs: 10_000 });
    fail(breaker, 1);
    expect(breaker.waitsSince).toBe(0);
    for (const now of [1, 2, 5000]) {
      const isProbe = breaker.enter(now);
      expect([isProbe, breaker.isTried, breaker.waitsSince, breaker.state(now)]).toEqual([
        true,
        true,
        undefined,
        "half_open",
      ]);
      breaker.failed(now, isProbe);
      expect([breaker.availableAt, breaker.waitsSince, breaker.isTried]).toEqual([now + 10_000, now, false]);
    }
    breaker.failed(15_000, breaker.enter(15_000));
    expect(breaker.availableAt).toBe(35_000);
  });

  it("lets another call try when the one that did has told nothing", () => {
    const breaker = new Breaker({ consecutiveFailures: 1, openMs: 1000 });
    fail(breaker, 1);
    breaker.enter(1000);
    breaker.withdraw();
    expect([breaker.state(1000), breaker.availableAt]).toEqual(["half_open", 1000]);
  });

  it("is not opened any longer by calls that began before it opened", () => {
    const breaker = new Breaker({ consecutiveFailures: 1, openMs: 1000 });
    const began = breaker.enter(0);
    fail(breaker, 1);
    breaker.failed(500, began);
    expect(breaker.availableAt).toBe(1000);
  });

  it("counts what a list of the window's calls counts, whatever happens in it", () => {
    const event = fc.record({ waitMs: fc.integer({ min: 0, max: 400 }), ok: fc.boolean() });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const breaker = new Breaker({ consecutiveFailures: 1000, minimumCalls: 1000, windowMs: 1000 });
        const seen: { at: number; ok: boolean }[] = [];
        let now = 0;
        for (const { waitMs, ok } of events) {
          now += waitMs;
          seen.push({ at: now, ok });
          if (ok) breaker.succeeded(now);
          else breaker.failed(now, false);
          const rate = breaker.failureRate(now);
          // A slice is a tenth of the window: what is younger than the rest counts, what is older than all does not.
          const part = (within: number) => seen.filter(({ at }) => now - at <= within);
          const failures = (list: typeof seen) => list.filter((call) => !call.ok).length;
          const [inner, outer] = [part(900), part(1000)];
          expect(rate).toBeGreaterThanOrEqual(failures(inner) / outer.length);
          expect(rate).toBeLessThanOrEqual(failures(outer) / inner.length);
        }
      }),
    );
  });
});
