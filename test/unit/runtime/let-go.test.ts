import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BackgroundWork } from "../../../src/runtime/background-work.js";
import { collectGarbage } from "../../support/collect-garbage.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const endless = () => new Promise<void>(() => {});

/** Whether it has resolved by now. */
function watched(promise: Promise<void>) {
  const state = { isOver: false };
  void promise.then(() => {
    state.isOver = true;
  });
  return state;
}

it("waits for all that goes on when it is asked, and for nothing that begins later", async () => {
  const work = new BackgroundWork();
  let end = (): void => {};
  work.add(new Promise<void>((resolve) => (end = resolve)));
  const idle = watched(work.idle());
  work.add(endless());
  await vi.advanceTimersByTimeAsync(1_000);
  expect(idle.isOver).toBe(false);
  end();
  await vi.advanceTimersByTimeAsync(0);
  expect(idle.isOver).toBe(true);
});

it("lets go of work that never ends: later requests do not wait for it", async () => {
  const work = new BackgroundWork();
  work.add(endless(), "call_hung");
  await vi.advanceTimersByTimeAsync(29_000);
  const [all, own] = [watched(work.idle()), watched(work.of("call_hung"))];
  await vi.advanceTimersByTimeAsync(999);
  expect([all.isOver, own.isOver]).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(1);
  expect([all.isOver, own.isOver]).toEqual([true, true]);
  const later = watched(work.idle());
  await vi.advanceTimersByTimeAsync(0);
  expect(later.isOver).toBe(true);
});

it("does not grow with work that never ends, nor with those who waited for it", async () => {
  const work = new BackgroundWork();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let minute = 0; minute < 30; minute++) {
    for (let request = 0; request < 200; request++) {
      work.add(endless(), "call");
      void work.idle();
    }
    await vi.advanceTimersByTimeAsync(60_000);
  }
  work.add(Promise.resolve());
  await work.idle();
  collectGarbage();
  expect((process.memoryUsage().heapUsed - before) / 2 ** 20).toBeLessThan(2);
});
