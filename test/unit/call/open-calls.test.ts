import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type OpenCall, OpenCalls } from "../../../src/call/open-calls.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const callOf = (number: number): OpenCall => ({ number, place: -1, abort: () => {}, abandon: () => {} });

function begin(calls: OpenCalls): OpenCall {
  const call = callOf(calls.expect());
  calls.add(call);
  return call;
}

/** Whether it has resolved. */
async function isOver(waiting: Promise<void>): Promise<boolean> {
  let over = false;
  void waiting.then(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return over;
}

describe("OpenCalls.idle", () => {
  it("waits for calls that are being admitted, until they end or are refused", async () => {
    const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
    const calls = new OpenCalls();
    const [admitted, refused] = [calls.expect(), calls.expect()];
    const idle = calls.idle(10_000);
    calls.giveUp(refused);
    const call = callOf(admitted);
    calls.add(call);
    expect(await isOver(idle)).toBe(false);
    calls.remove(call);
    expect(await isOver(idle)).toBe(true);
    // Its own timer. What other files have left behind in this process may set others.
    const own = set.mock.results.filter((_, index) => set.mock.calls[index]?.[1] === 10_000);
    expect(own).toHaveLength(1);
    expect(clear.mock.calls.map(([timer]) => timer)).toContain(own[0]?.value);
  });

  it("does not wait for those that begin later", async () => {
    const calls = new OpenCalls();
    const first = begin(calls);
    const idle = calls.idle(10_000);
    begin(calls);
    calls.expect();
    calls.remove(first);
    calls.remove(first);
    expect(await isOver(idle)).toBe(true);
  });

  it("ends with its time, and leaves nothing behind", async () => {
    const calls = new OpenCalls();
    begin(calls);
    const idle = calls.idle(10_000);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(await isOver(idle)).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await isOver(idle)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("OpenCalls of an isolate lets calls go after a quarter of an hour, which may have been cut off", async () => {
  const calls = new OpenCalls(true);
  begin(calls);
  await vi.advanceTimersByTimeAsync(14 * 60_000);
  const second = begin(calls);
  expect(await isOver(calls.idle(1_000))).toBe(false);
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  const third = begin(calls);
  calls.remove(second);
  calls.remove(third);
  expect(await isOver(calls.idle(1_000))).toBe(true);
});
