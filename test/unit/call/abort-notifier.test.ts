import { expect, it, vi } from "vitest";
import { AbortNotifier } from "../../../src/call/abort-notifier.js";

it("a listener that throws keeps no other from learning of the abort", () => {
  const notifier = new AbortNotifier();
  const heard = vi.fn();
  notifier.addEventListener("abort", () => {
    throw new Error("a bug of the host's");
  });
  notifier.addEventListener("abort", heard);
  notifier.abort();
  expect(heard).toHaveBeenCalledOnce();
  expect([notifier.aborted, notifier.signal.aborted]).toEqual([true, true]);
});
