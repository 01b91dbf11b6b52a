import type { Clock } from "../ledger/clock.js";
import type { Target } from "./target.js";
import type { Verdict } from "./target-health.js";

/** A place at a target, for one attempt. It counts as one of the target's concurrent calls until it is left. */
export class TargetVisit {
  readonly target: Target;
  /** When it began, in epoch milliseconds. */
  readonly since: number;
  #isProbe: boolean;
  #isOver = false;

  constructor(target: Target, now: number) {
    this.target = target;
    this.since = now;
    this.#isProbe = target.monitor.enter(now);
  }

  /** The target works again. This is known before its response has ended. */
  confirm(): void {
    if (!this.#isProbe) return;
    this.#isProbe = false;
    if (!this.#isOver) this.target.monitor.reopen();
  }

  /** Frees the place. Only the first call has an effect. */
  leave(verdict: Verdict, clock: Clock): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.target.monitor.leave(verdict, this.#isProbe, clock);
  }
}
