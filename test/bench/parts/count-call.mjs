import { createHook } from "node:async_hooks";
import { setTimeout } from "node:timers/promises";

/** With these, nothing is collected while a round is measured. */
export const countingFlags = [
  "--expose-gc",
  "--single-threaded-gc",
  "--max-semi-space-size=256",
  "--min-semi-space-size=256",
];

const rounds = 5;

/** What one of so many calls allocates: the least of some rounds. */
export async function bytesOf(call, calls) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) least = Math.min(least, await bytesOfRound(call, calls));
  return least;
}

async function bytesOfRound(call, calls) {
  // What is freed beside the heap is freed a while after the collection.
  globalThis.gc();
  await setTimeout(20);
  globalThis.gc();
  const before = allocated();
  for (let count = 0; count < calls; count++) await call();
  return Math.round((allocated() - before) / calls);
}

function allocated() {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** How many promises one of so many calls makes. Those of the caller itself are among them. */
export async function promisesOf(call, calls) {
  let promises = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "PROMISE") promises++;
    },
  });
  await call();
  hook.enable();
  for (let count = 0; count < calls; count++) await call();
  hook.disable();
  return Math.round(promises / calls);
}

/** Processor time of one call in microseconds: the least of some rounds. */
export async function timeOf(call, calls) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    globalThis.gc();
    const before = process.cpuUsage();
    for (let count = 0; count < calls; count++) await call();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / calls);
  }
  return least;
}
