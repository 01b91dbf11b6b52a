import { IdleTimeout, type IdleTimeoutListener } from "./idle-timeout.js";

/** More of them are not kept: so many calls at once are rare. */
const mostSpare = 1000;

const noListener: IdleTimeoutListener = { onIdleTimeout() {} };

/**
 * The timers of calls. A call takes over the timer of one that has ended: a timer that runs already costs next to
 * nothing. It need not keep the process alive: the call's connection does.
 */
export class IdleTimeoutPool {
  readonly #spare: IdleTimeout[] = [];

  take(listener: IdleTimeoutListener): IdleTimeout {
    const timer = this.#spare.pop();
    if (timer === undefined) return new IdleTimeout(listener, { keepsProcess: false });
    timer.listener = listener;
    return timer;
  }

  /** The call is over, and will not use its timer again, which must not keep it in memory. */
  giveBack(timer: IdleTimeout): void {
    timer.listener = noListener;
    if (this.#spare.length < mostSpare) this.#spare.push(timer);
    else timer.stop();
  }
}
