import { afterAll, vi } from "vitest";

const time = () => ({
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  Date: globalThis.Date,
  performance: globalThis.performance,
});
const real = time();
const dateNow = Date.now;
const performanceNow = performance.now;

/** A second is what vitest waits by default: on a machine that has other things to do, nothing of what a test does takes less. */
const patience = { timeout: 30_000 };
const { waitFor } = vi;
type Waiting = Parameters<typeof waitFor>;
// All files of a worker have the same `vi`.
if (waitFor.name !== "waitPatiently") {
  const waitPatiently = (until: Waiting[0], options?: Waiting[1]) => waitFor(until, options ?? patience);
  Object.assign(vi, { waitFor: waitPatiently });
}

// All files of a worker share one process: whoever leaves a fake clock behind makes those after it hang.
afterAll(() => {
  const left = Object.entries(time()).flatMap(([name, now]) => (now === real[name as keyof typeof real] ? [] : [name]));
  vi.useRealTimers();
  Object.assign(globalThis, real);
  if (Date.now !== dateNow) left.push("Date.now");
  if (performance.now !== performanceNow) left.push("performance.now");
  Object.assign(Date, { now: dateNow });
  Object.assign(performance, { now: performanceNow });
  if (left.length > 0) throw new Error(`This file leaves faked behind: ${left.join(", ")}.`);
});
