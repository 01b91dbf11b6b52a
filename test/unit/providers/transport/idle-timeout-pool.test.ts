import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { IdleTimeoutPool } from "../../../../src/providers/transport/idle-timeout.js";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function listener() {
  return { onIdleTimeout: vi.fn() };
}

it("tells of a silence whose timer another call has started, no sooner and no later", () => {
  const timers = new IdleTimeoutPool();
  const first = listener();
  const timer = timers.take(first);
  timer.start(1000);
  vi.advanceTimersByTime(900);
  timers.giveBack(timer);
  const second = listener();
  const again = timers.take(second);
  expect(again).toBe(timer);
  again.start(1000);
  vi.advanceTimersByTime(999);
  expect(second.onIdleTimeout).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2);
  expect(second.onIdleTimeout).toHaveBeenCalledOnce();
  expect(first.onIdleTimeout).not.toHaveBeenCalled();
});

it("sets no second timer where one runs on that is early enough", () => {
  const timers = new IdleTimeoutPool();
  const timer = timers.take(listener());
  timer.start(1000);
  timers.giveBack(timer);
  timers.take(listener()).start(1000);
  expect(vi.getTimerCount()).toBe(1);
});

it("heeds a shorter limit than that of the call before", () => {
  const timers = new IdleTimeoutPool();
  const timer = timers.take(listener());
  timer.start(60_000);
  timers.giveBack(timer);
  const impatient = listener();
  timers.take(impatient).start(50);
  vi.advanceTimersByTime(51);
  expect(impatient.onIdleTimeout).toHaveBeenCalledOnce();
});

it("gives the call after one that was nearly silent for too long its own moment of grace", () => {
  const timers = new IdleTimeoutPool();
  const timer = timers.take(listener());
  timer.start(100);
  // The timer has found the silence, and waits for one more round of the event loop.
  vi.advanceTimersByTime(100);
  timers.giveBack(timer);
  vi.advanceTimersByTime(1);
  const next = listener();
  timers.take(next).start(100);
  vi.advanceTimersByTime(100);
  expect(next.onIdleTimeout).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(next.onIdleTimeout).toHaveBeenCalledOnce();
});

it("tells nobody when it runs out between two calls, and can be started again", () => {
  const timers = new IdleTimeoutPool();
  const before = listener();
  const timer = timers.take(before);
  timer.start(100);
  timers.giveBack(timer);
  vi.advanceTimersByTime(10_000);
  expect(before.onIdleTimeout).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
  const after = listener();
  timers.take(after).start(100);
  vi.advanceTimersByTime(101);
  expect(after.onIdleTimeout).toHaveBeenCalledOnce();
});

it("keeps no more of them than a thousand", () => {
  const timers = new IdleTimeoutPool();
  const taken = Array.from({ length: 1500 }, () => timers.take(listener()));
  for (const timer of taken) timer.start(60_000);
  for (const timer of taken) timers.giveBack(timer);
  expect(vi.getTimerCount()).toBe(1000);
});
