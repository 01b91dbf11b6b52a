import { letProcessEnd } from "./let-process-end.js";

/** Nobody waits longer for what goes on behind a response. */
const longestMs = 30_000;

interface Begun {
  readonly owner: string | undefined;
  readonly number: number;
  /** By the monotonic clock, in milliseconds. */
  readonly until: number;
}

/**
 * Work that goes on behind responses: settlements that are kept, hooks of the host's that have not returned. What takes longer
 * than half a minute is let go, since it may never end: a hook may hang, and an isolate cuts work off with its request.
 */
export class BackgroundWork {
  /** The oldest is the first. */
  readonly #underWay = new Map<Promise<unknown>, Begun>();
  readonly #waits = new IdleWaits();

  /**
   * @param work - may reject: whoever began it has to deal with that.
   * @param owner - whose work it is, such as the id of a call. Default: nobody's in particular.
   */
  add(work: Promise<unknown>, owner?: string): void {
    this.#letGo();
    const done: Promise<unknown> = work.then(ignore, ignore).then(() => this.#end(done));
    this.#underWay.set(done, { owner, number: this.#waits.begin(), until: performance.now() + longestMs });
  }

  /** Resolves when nothing goes on of what is theirs. */
  async of(...owners: readonly string[]): Promise<void> {
    for (;;) {
      this.#letGo();
      const theirs = [...this.#underWay].filter(([, { owner }]) => owner !== undefined && owners.includes(owner));
      const newest = theirs.at(-1);
      if (newest === undefined) return;
      await endedBy(
        newest[1].until,
        theirs.map(([work]) => work),
      );
    }
  }

  /** Resolves when all that goes on now has ended. */
  async idle(): Promise<void> {
    this.#letGo();
    const newest = [...this.#underWay.values()].at(-1);
    if (newest === undefined) return;
    await this.#waits.idle(this.#underWay.size, newest.until - performance.now());
  }

  #letGo(): void {
    const now = performance.now();
    for (const [work, { until }] of this.#underWay) {
      if (until > now) return;
      this.#end(work);
    }
  }

  #end(work: Promise<unknown>): void {
    const begun = this.#underWay.get(work);
    if (begun === undefined) return;
    this.#underWay.delete(work);
    this.#waits.ended(begun.number);
  }
}

/** Resolves when all of it has ended, or at that time. The timer does not keep the process alive. */
function endedBy(until: number, work: readonly Promise<unknown>[]): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, until - performance.now());
    letProcessEnd(timer);
    void Promise.all(work).then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function ignore(): void {}

interface Wait {
  /** What has a smaller number was under way when it began. */
  readonly before: number;
  /** How much of that is under way still. */
  left: number;
  end(): void;
}

/**
 * Lets callers wait until all has ended that was under way when they came. A wait takes the same room, however much is under
 * way, and leaves nothing behind when it is given up.
 */
export class IdleWaits {
  readonly #waits = new Set<Wait>();
  #begun = 0;

  /** Something begins. @returns its number, for {@link ended}. */
  begin(): number {
    return this.#begun++;
  }

  /** What has this number has ended. To be called once for each. */
  ended(number: number): void {
    for (const wait of this.#waits) if (number < wait.before && --wait.left === 0) wait.end();
  }

  /**
   * Resolves when all that is under way has ended, or after `maxMs`. The timer does not keep the process alive.
   * @param underWay - how much has begun and not ended.
   */
  idle(underWay: number, maxMs: number): Promise<void> {
    if (underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waits.delete(wait);
        resolve();
      };
      const timer = setTimeout(end, maxMs);
      letProcessEnd(timer);
      const wait: Wait = { before: this.#begun, left: underWay, end };
      this.#waits.add(wait);
    });
  }
}
