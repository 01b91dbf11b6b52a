import { AsyncLocalStorage } from "node:async_hooks";
import type { VirtualEvent } from "./event-heap.js";
import type { VirtualWorld } from "./virtual-world.js";

/** What a timer is in virtual time. */
interface VirtualTimer {
  event: VirtualEvent | undefined;
  unref(): VirtualTimer;
}

type Timer = VirtualTimer | ReturnType<typeof setTimeout>;

/** Tells what runs in a world from what another test has left running. */
const inWorld = new AsyncLocalStorage<VirtualWorld>();

/**
 * Runs something while its timers, `performance.now` and `Math.random` are the world's: the gateway's parts take them
 * from the process. What runs outside keeps the real ones.
 */
export async function withVirtualGlobals<Result>(
  world: VirtualWorld,
  random: () => number,
  run: () => Promise<Result>,
): Promise<Result> {
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
  const { now } = performance;
  const realRandom = Math.random;
  const isInside = () => inWorld.getStore() === world;
  const { virtualTimeout, virtualInterval } = virtualTimers(world);
  Object.assign(globalThis, {
    setTimeout: (action: () => void, ms?: number, ...args: unknown[]): Timer =>
      isInside() ? virtualTimeout(action, ms) : setTimeout(action, ms, ...(args as [])),
    setInterval: (action: () => void, ms: number, ...args: unknown[]): Timer =>
      isInside() ? virtualInterval(action, ms) : setInterval(action, ms, ...(args as [])),
    clearTimeout: (timer?: Timer) => (isVirtual(timer) ? cancel(timer) : clearTimeout(timer)),
    clearInterval: (timer?: Timer) => (isVirtual(timer) ? cancel(timer) : clearInterval(timer)),
  });
  Object.assign(performance, { now: () => (isInside() ? world.now : now.call(performance)) });
  Math.random = () => (isInside() ? random() : realRandom());
  try {
    return await inWorld.run(world, run);
  } finally {
    Object.assign(globalThis, { setTimeout, setInterval, clearTimeout, clearInterval });
    Object.assign(performance, { now });
    Math.random = realRandom;
  }
}

function isVirtual(timer: Timer | undefined): timer is VirtualTimer {
  return typeof timer === "object" && timer !== null && "event" in timer;
}

function cancel({ event }: VirtualTimer): void {
  if (event !== undefined) event.isCancelled = true;
}

function virtualTimers(world: VirtualWorld) {
  const makeTimer = (): VirtualTimer => {
    const timer: VirtualTimer = { event: undefined, unref: () => timer };
    return timer;
  };
  return {
    virtualTimeout(action: () => void, ms = 0): VirtualTimer {
      const timer = makeTimer();
      timer.event = world.after(ms, action);
      return timer;
    },
    virtualInterval(action: () => void, ms: number): VirtualTimer {
      const timer = makeTimer();
      const next = (): void => {
        timer.event = world.after(ms, () => {
          next();
          action();
        });
      };
      next();
      return timer;
    },
  };
}
