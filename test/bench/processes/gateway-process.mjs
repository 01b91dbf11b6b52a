import { writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { processors } from "../parts/processors.mjs";
import { answerCalls } from "./answer-calls.mjs";

const [variant, accounts] = process.argv.slice(2);
const { start, sampleStore } = await import(`../variants/${variant}.mjs`);
const session = new Session();
const maxCollections = 10;

answerCalls({
  /** @returns the port on which the variant listens. */
  start: ({ upstreamPort }) =>
    start({ upstreamPort, upstreamOrigin: `http://127.0.0.1:${upstreamPort}`, accounts: Number(accounts) }),
  /** All threads count, those of the garbage collector too. */
  async sample() {
    const store = await sampleStore?.();
    const { user, system } = process.cpuUsage();
    return { cpu: user + system, time: performance.now(), processor: busyTime(processors.gateway), store };
  },
  /** After as many collections as still free something: what was closed last is let go in steps. */
  async memory() {
    let last = Number.POSITIVE_INFINITY;
    for (let pass = 0; pass < maxCollections; pass++) {
      globalThis.gc();
      await delay(100);
      const { heapUsed } = process.memoryUsage();
      if (heapUsed > last * 0.995) break;
      last = heapUsed;
    }
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heap: heapUsed };
  },
  async startProfile({ intervalUs }) {
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: intervalUs });
    await session.post("Profiler.start");
  },
  async stopProfile({ file }) {
    const { profile } = await session.post("Profiler.stop");
    session.disconnect();
    writeFileSync(file, JSON.stringify(profile));
  },
});

/** How long a processor has worked, for whatever process, in milliseconds. */
function busyTime(processor) {
  const { user, nice, sys, irq } = cpus()[processor].times;
  return user + nice + sys + irq;
}
