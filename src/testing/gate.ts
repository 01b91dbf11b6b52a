/** Holds an answer back until the test lets it go on, so that no test needs to sleep. */
export interface Gate {
  /** Lets the next `count` passages through, those that wait already first. Default: 1. */
  step(count?: number): void;
  /** Lets everything through from now on. */
  open(): void;
  /** Waits for a step. An answer calls this before each piece that it writes. */
  pass(): Promise<void>;
  /** How many callers are waiting right now. */
  readonly waiting: number;
}

/** A closed gate: nothing passes before `step()` or `open()`. */
export function createGate(): Gate {
  const waiting: (() => void)[] = [];
  let steps = 0;
  const step = (count = 1) => {
    steps += count;
    while (steps > 0 && waiting.length > 0) {
      steps -= 1;
      waiting.shift()?.();
    }
  };
  return {
    step,
    open() {
      step(Number.POSITIVE_INFINITY);
    },
    async pass() {
      if (steps > 0) {
        steps -= 1;
        return;
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    },
    get waiting() {
      return waiting.length;
    },
  };
}
