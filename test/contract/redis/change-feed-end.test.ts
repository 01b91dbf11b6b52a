import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ChangeFeed, type Subscription } from "../../../src/stores/redis/change-feed.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A feed whose first connection is lost as soon as somebody listens. */
async function lostFeed(reopened: () => Promise<Subscription>) {
  const losses: (() => void)[] = [];
  const feed = new ChangeFeed("channel", (_onMessage, onEnd) => {
    losses.push(onEnd);
    return losses.length === 1 ? Promise.resolve({ end: () => {} }) : reopened();
  });
  const end = await feed.subscribe("key", () => {});
  losses[0]?.();
  return { end, opened: () => losses.length };
}

it("a feed that nobody listens to any more is not opened again", async () => {
  const { end, opened } = await lostFeed(async () => ({ end: () => {} }));
  await end();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(opened()).toBe(1);
});

it("a subscription ends while its connection is being opened again, and the connection when it is there", async () => {
  let open = (_subscription: Subscription) => {};
  const opening = new Promise<Subscription>((resolve) => {
    open = resolve;
  });
  const { end, opened } = await lostFeed(() => opening);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(opened()).toBe(2);
  let hasEnded = false;
  void end().then(() => {
    hasEnded = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect(hasEnded).toBe(true);
  const endConnection = vi.fn();
  open({ end: endConnection });
  await vi.advanceTimersByTimeAsync(0);
  expect(endConnection).toHaveBeenCalledOnce();
});
