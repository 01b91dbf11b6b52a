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
