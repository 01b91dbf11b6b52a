import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { GatewayWarning } from "../../../src/events/warning.js";
import { ChangeWatch } from "../../../src/gateway/change-watch.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A subscription whose outcomes the test decides. */
function setUp() {
  const attempts: PromiseWithResolvers<() => Promise<void>>[] = [];
  const warnings: GatewayWarning[] = [];
  const changes: string[] = [];
  let ended = 0;
  let tell: (name: string) => void = () => {};
  const watch = new ChangeWatch({
    subscribe: (onChange) => {
      tell = onChange;
      const attempt = withResolvers<() => Promise<void>>();
      attempts.push(attempt);
      return attempt.promise;
    },
    onChange: (name) => changes.push(name),
    what: "key",
    warn: (warning) => warnings.push(warning),
  });
  return {
    watch,
    attempts,
    warnings,
    changes,
    tell: (name: string) => tell(name),
    end: async () => {
      ended++;
    },
    endings: () => ended,
    settle: () => vi.advanceTimersByTimeAsync(0),
  };
}

interface PromiseWithResolvers<Value> {
  promise: Promise<Value>;
  resolve: (value: Value) => void;
  reject: (reason: unknown) => void;
}

function withResolvers<Value>(): PromiseWithResolvers<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<Value>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

describe("a change watch", () => {
  it("subscribes when something is first asked for, and lets nothing be remembered until it hears", async () => {
    const test = setUp();
    expect(test.attempts).toHaveLength(0);
    expect([test.watch.mayRemember(), test.watch.mayRemember()]).toEqual([false, false]);
    test.attempts[0]?.resolve(test.end);
    await test.settle();
    expect(test.watch.mayRemember()).toBe(true);
    test.tell("hash");
    expect([test.changes, test.attempts.length, test.warnings]).toEqual([["hash"], 1, []]);
    await test.watch.close();
    expect(test.endings()).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("goes on without one that fails, warns once, and tries again ever more slowly", async () => {
    const test = setUp();
    test.watch.mayRemember();
    for (const [attempt, pause] of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000].entries()) {
      test.attempts[attempt]?.reject(new Error("refused"));
      await vi.advanceTimersByTimeAsync(pause - 1);
      expect([test.attempts.length, test.watch.mayRemember()]).toEqual([attempt + 1, true]);
      await vi.advanceTimersByTimeAsync(1);
      expect(test.attempts).toHaveLength(attempt + 2);
    }
    expect(test.warnings.map(({ code }) => code)).toEqual(["change_feed_failed"]);
    test.attempts.at(-1)?.resolve(test.end);
    await test.settle();
    await test.watch.close();
    expect([test.endings(), vi.getTimerCount()]).toEqual([1, 0]);
  });

  it.each(["key", "plan", "ledger"] as const)(
    "tells what a store of the kind %s says is to be done, and nothing else",
    async (what) => {
      const messages: string[] = [];
      for (const name of ["NoChangeFeedError", "Error"]) {
        const watch = new ChangeWatch({
          subscribe: () => Promise.reject(Object.assign(new Error("Give it a way."), { name })),
          onChange: () => {},
          what,
          warn: ({ message }) => messages.push(message),
        });
        watch.mayRemember();
        await vi.advanceTimersByTimeAsync(0);
        await watch.close();
      }
      expect(messages[0]).toMatch(new RegExp(`^The ${what}.* cannot be subscribed to.*Ms.*\\. Give it a way\\.$`));
      expect(messages[1]).toBe(messages[0]?.replace(" Give it a way.", ""));
    },
  );

  it("does not keep the cache empty for a store that does not answer", async () => {
    const test = setUp();
    test.watch.mayRemember();
    await vi.advanceTimersByTimeAsync(4999);
    expect(test.watch.mayRemember()).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(test.watch.mayRemember()).toBe(true);
    await test.watch.close();
  });

  it("ends a subscription that comes after it was closed, and tries none again", async () => {
    const test = setUp();
    test.watch.mayRemember();
    await test.watch.close();
    test.attempts[0]?.resolve(test.end);
    await test.settle();
    expect(test.endings()).toBe(1);

    // Other parts of the process may have timers of their own.
    const timers = vi.getTimerCount();
    const failing = setUp();
    failing.watch.mayRemember();
    await failing.watch.close();
    failing.attempts[0]?.reject(new Error("refused"));
    await vi.advanceTimersByTimeAsync(100_000);
    expect([failing.attempts.length, failing.warnings]).toEqual([1, []]);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(timers);
  });

  it("has nothing to wait for in a store that cannot tell, or listens at once", () => {
    const common = { onChange: () => {}, what: "plan", warn: () => {} } as const;
    expect(new ChangeWatch({ ...common, subscribe: undefined }).mayRemember()).toBe(true);
    expect(new ChangeWatch({ ...common, subscribe: () => async () => {} }).mayRemember()).toBe(true);
  });

  it("survives a store that throws at once", async () => {
    const warnings: GatewayWarning[] = [];
    const watch = new ChangeWatch({
      subscribe: () => {
        throw new Error("no");
      },
      onChange: () => {},
      what: "plan",
      warn: (warning) => warnings.push(warning),
    });
    expect(watch.mayRemember()).toBe(true);
    expect(warnings).toMatchObject([{ code: "change_feed_failed" }]);
    await watch.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
