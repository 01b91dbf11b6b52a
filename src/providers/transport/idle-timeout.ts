import { letProcessEnd } from "../../runtime/let-process-end.js";

/** Notified when the silence has lasted too long. */
export interface IdleTimeoutListener {
  onIdleTimeout(): void;
}

/**
 * Reports a silence that lasts too long. A sign of life only notes the time: the timer itself runs on, and is set again
 * when it finds on expiry that there were signs. So a stream of any length costs no timer per chunk.
 */
export class IdleTimeout {
  #listener: IdleTimeoutListener;
  readonly #keepsProcess: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #expiresAt = 0;
  #limitMs = 0;
  #activeAt = 0;
  #isOverdue = false;
  #isPaused = false;

  /** @param keepsProcess - whether the process lives on while it counts. Default: yes. */
  constructor(listener: IdleTimeoutListener, { keepsProcess = true } = {}) {
    this.#listener = listener;
    this.#keepsProcess = keepsProcess;
  }

  /** From now on this listener is notified instead. */
  set listener(listener: IdleTimeoutListener) {
    this.#listener = listener;
  }

  /** Counts from now on, up to `limitMs`. */
  start(limitMs: number): void {
    this.#limitMs = limitMs;
    this.#activeAt = performance.now();
    this.#isPaused = false;
    this.#isOverdue = false;
    if (this.#timer !== undefined && this.#expiresAt > this.#activeAt + limitMs) this.stop();
    if (this.#timer === undefined) this.#arm(limitMs, this.#activeAt);
  }

  /** A sign of life: the count starts again. */
  touch(): void {
    this.#activeAt = performance.now();
  }

  /** Silence does not count until the next start; the timer stays, which is cheaper than a new one each time. */
  pause(): void {
    this.#isPaused = true;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(delayMs: number, now: number): void {
    this.#expiresAt = now + delayMs;
    const timer = setTimeout(checkIdleTime, delayMs, this);
    if (!this.#keepsProcess) letProcessEnd(timer);
    this.#timer = timer;
  }

  /** Called by the timer. */
  check(): void {
    this.#timer = undefined;
    if (this.#isPaused) return;
    const now = performance.now();
    const restMs = this.#activeAt + this.#limitMs - now;
    const wasOverdue = this.#isOverdue;
    this.#isOverdue = restMs <= 0;
    if (restMs > 0) this.#arm(Math.ceil(restMs), now);
    // If this process slept, signs of life are waiting to be read: let them in first.
    else if (!wasOverdue) this.#arm(1, now);
    else this.#listener.onIdleTimeout();
  }
}

function checkIdleTime(timer: IdleTimeout): void {
  timer.check();
}

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
