import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { repeatedRead, TimeLimit } from "../../../../src/ledger/guard/time-limit.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const silence = (): Promise<string> => new Promise(() => {});

/** A read of which each attempt does as the next one of the list. */
function reading(...attempts: (() => Promise<string>)[]) {
  const read = vi.fn(() => (attempts[read.mock.calls.length - 1] ?? silence)());
  return { read, found: repeatedRead(read(), read, new TimeLimit(2_000)) };
}

it("is sent again after a quarter of the time, and after half of it, and not before", async () => {
  const { read, found } = reading();
  const failed = expect(found).rejects.toMatchObject({ name: "TimeLimitError" });
  await vi.advanceTimersByTimeAsync(499);
  expect(read).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(101);
  expect(read).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(read).toHaveBeenCalledTimes(3);
  await vi.advanceTimersByTimeAsync(1_000);
  await failed;
  expect(read).toHaveBeenCalledTimes(3);
});

it("has the first response, whichever attempt gets it", async () => {
  const { found } = reading(silence, async () => "second");
  await vi.advanceTimersByTimeAsync(700);
  expect(await found).toBe("second");
});

it("fails at once where its only attempt does, and waits for another one that is under way", async () => {
  await expect(reading(async () => Promise.reject(new Error("refused"))).found).rejects.toThrow("refused");
  let answer: (text: string) => void = () => {};
  const first = () => new Promise<string>((resolve) => (answer = resolve));
  const { read, found } = reading(first, async () => Promise.reject(new Error("refused")));
  await vi.advanceTimersByTimeAsync(700);
  expect(read).toHaveBeenCalledTimes(2);
  answer("first");
  expect(await found).toBe("first");
});
