import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LedgerSweep } from "../../../src/gateway/watched-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("a store that hangs in a sweep holds up the end of the gateway for a second at most", async () => {
  const sweep = new LedgerSweep({ ...memoryCreditLedger(), sweep: () => new Promise<number>(() => {}) }, false);
  await vi.advanceTimersByTimeAsync(20_000);
  let isStopped = false;
  void sweep.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(999);
  expect(isStopped).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isStopped).toBe(true);
});

it("the end of the gateway waits for a sweep that goes on, and begins no other", async () => {
  let sweeps = 0;
  const ended = () => new Promise<number>((resolve) => setTimeout(() => resolve(++sweeps), 500));
  const sweep = new LedgerSweep({ ...memoryCreditLedger(), sweep: ended }, false);
  await vi.advanceTimersByTimeAsync(20_000);
  const stopped = sweep.stop().then(() => sweeps);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await stopped).toBe(1);
  expect(sweeps).toBe(1);
});
