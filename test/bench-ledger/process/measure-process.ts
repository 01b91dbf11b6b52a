import { createHook } from "node:async_hooks";
import { setTimeout as pause, setImmediate } from "node:timers/promises";
import { amount, leaseMs, limitsNow, tags } from "../ledger-pair.js";
import type { Build } from "./build.js";

/** As a server has them that is busy. */
const inFlight = 32;
const limits = limitsNow();
let started = 0;

/** Reserves, answers a turn later, and settles. */
async function pair({ ledger }: Build, accounts: number): Promise<void> {
  const id = `call_0123456789abcdef${started}`;
  // A step that has no divisor in common with the number of accounts visits them all, in no order that a store could use.
  const account = `account_${(started++ * 61_379) % accounts}`;
  const result = await ledger.reserve({ id, account, amountMicro: amount, limits, leaseMs });
  if (!result.ok) throw new Error(`${account} was denied.`);
  await setImmediate();
  const { status } = await ledger.settle(result.lease, { amountMicro: amount - 1, estimated: false, tags });
  if (status !== "settled") throw new Error(`A settlement of ${account} was ${status}.`);
}

export async function run(build: Build, accounts: number, pairs: number): Promise<void> {
  let left = pairs;
  const caller = async () => {
    while (left-- > 0) await pair(build, accounts);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
}

/** Processor time of a pair in this process, in microseconds. */
export async function cpuOf(build: Build, accounts: number, pairs: number): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await run(build, accounts, pairs);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / pairs;
}

const counted = 1_000;
const rounds = 5;

/** Bytes that a pair allocates. Nothing is collected meanwhile: the young generation is large enough. */
export async function allocatedBy(build: Build, accounts: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    globalThis.gc?.();
    // What is freed beside the heap is freed a while after the collection.
    await pause(20);
    globalThis.gc?.();
    const before = process.memoryUsage();
    await run(build, accounts, counted);
    const after = process.memoryUsage();
    least = Math.min(least, after.heapUsed + after.external - before.heapUsed - before.external);
  }
  return Math.round(least / counted);
}

/** Promises of a pair, with those of the measurement itself. */
export async function promisesOf(build: Build, accounts: number): Promise<number> {
  let promises = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === "PROMISE") promises++;
    },
  });
  await run(build, accounts, counted);
  hook.enable();
  await run(build, accounts, counted);
  hook.disable();
  return Math.round((10 * promises) / counted) / 10;
}

export async function scriptsOf(build: Build, accounts: number): Promise<number> {
  const before = await build.store.scripts();
  await run(build, accounts, counted);
  return ((await build.store.scripts()) - before) / counted;
}
