import type { Clock } from "../ledger/clock.js";
import type { Target } from "./target.js";
import type { Verdict } from "./target-health.js";

/** A place at a target, for one attempt: the target counts it among its calls until it is given back. */
export class TargetVisit {
  readonly target: Target;
  #isProbe: boolean;
  #isOver = false;

  constructor(target: Target) {
    this.target = target;
    this.#isProbe = target.monitor.enter();
  }

  /** The target works again. This is known before its response has ended. */
  confirm(): void {
    if (!this.#isProbe) return;
    this.#isProbe = false;
    if (!this.#isOver) this.target.monitor.breaker?.close();
  }

  /** Gives the place back. Only the first time counts. */
  leave(verdict: Verdict, clock: Clock): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.target.monitor.leave(verdict, this.#isProbe, clock);
  }
}
