import type { VirtualEvent } from "./event-heap.js";
import type { VirtualWorld } from "./virtual-world.js";

/** What a timer is in virtual time. */
interface VirtualTimer {
  event: VirtualEvent | undefined;
  unref(): VirtualTimer;
}

/**
 * Runs something while the timers, `performance.now` and `Math.random` of this process are the world's: the gateway's
 * parts take them from there.
 */
export async function withVirtualGlobals<Result>(
  world: VirtualWorld,
  random: () => number,
  run: () => Promise<Result>,
): Promise<Result> {
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
  const { now } = performance;
  const real = { setTimeout, setInterval, clearTimeout, clearInterval };
  const realRandom = Math.random;
  Object.assign(globalThis, virtualTimers(world));
  Object.assign(performance, { now: () => world.now });
  Math.random = random;
  try {
    return await run();
  } finally {
    Object.assign(globalThis, real);
    Object.assign(performance, { now });
    Math.random = realRandom;
  }
}

function virtualTimers(world: VirtualWorld) {
  const makeTimer = (): VirtualTimer => {
    const timer: VirtualTimer = { event: undefined, unref: () => timer };
    return timer;
  };
  const clear = (timer: VirtualTimer | undefined): void => {
    if (timer?.event !== undefined) timer.event.isCancelled = true;
  };
  return {
    setTimeout(action: () => void, ms = 0): VirtualTimer {
      const timer = makeTimer();
      timer.event = world.after(ms, action);
      return timer;
    },
    setInterval(action: () => void, ms: number): VirtualTimer {
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
    clearTimeout: clear,
    clearInterval: clear,
  };
}
