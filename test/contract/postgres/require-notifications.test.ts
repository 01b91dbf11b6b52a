import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { requireNotifications } from "../../../src/stores/postgres/notifications.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  // First: the spy would put back the faked timer that it stands for.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("waiting to be heard keeps the process alive for a tick, and not until it is given up", async () => {
  const started = vi.spyOn(globalThis, "setTimeout");
  const end = vi.fn(async () => {});
  const refused = requireNotifications({ query: async () => ({ rows: [] }) }, async () => end, "probe").catch(
    (error: unknown) => error,
  );
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await refused).toMatchObject({ name: "NoChangeFeedError" });
  expect(end).toHaveBeenCalledOnce();
  const [first, ...rest] = started.mock.results.map(({ value }) => value.hasRef());
  expect(first).toBe(true);
  // Others in this process may wait just then, too.
  expect(rest.length).toBeGreaterThanOrEqual(19);
  expect(rest).not.toContain(true);
});
