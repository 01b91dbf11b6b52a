import { IdleTimeout, type IdleTimeoutListener } from "../providers/transport/idle-timeout.js";
import { type AbortNotice, UpstreamError } from "../providers/upstream-provider.js";

/**
 * Watches over one call to a model, from its beginning to its end. No wait takes longer than the client waits, or than
 * the idle timeout, whether the model obeys the signal or not.
 */
export class ModelWatch implements IdleTimeoutListener {
  readonly #notice: AbortNotice;
  readonly #controller = new AbortController();
  readonly #timer = new IdleTimeout(this);
  #reject: ((error: UpstreamError) => void) | undefined;
  #limitMs = 0;
  #isOver = false;

  /** @throws UpstreamError when the client has left already. */
  constructor(notice: AbortNotice) {
    this.#notice = notice;
    if (notice.aborted) throw aborted(notice);
    notice.addEventListener("abort", this);
  }

  /** For the model. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @throws UpstreamError `aborted` or `timeout`; what the model rejects with as it is. */
  wait<Value>(pending: PromiseLike<Value>, limitMs: number): Promise<Value> {
    return new Promise((resolve, reject) => {
      // No caller waits any more, also for a rejection.
      if (this.#isOver) reject(aborted(this.#notice));
      else this.#startTimer(reject, limitMs);
      const arrived = <Result>(settle: (result: Result) => void) => {
        return (result: Result) => {
          if (this.#reject === reject) this.#timer.pause();
          settle(result);
        };
      };
      pending.then(arrived(resolve), arrived(reject));
    });
  }

  #startTimer(reject: (error: UpstreamError) => void, limitMs: number): void {
    this.#reject = reject;
    this.#limitMs = limitMs;
    this.#timer.start(limitMs);
  }

  /** The call is over, for whatever reason: the signal stops a model that is still at work. */
  end(): void {
    this.#stop(aborted(this.#notice));
  }

  /** The notice's listener. */
  handleEvent(): void {
    this.#stop(aborted(this.#notice));
  }

  /** The timer's listener. */
  onIdleTimeout(): void {
    this.#stop(new UpstreamError("timeout", `The model was silent for ${this.#limitMs} ms.`));
  }

  #stop(error: UpstreamError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer.stop();
    this.#notice.removeEventListener("abort", this);
    this.#reject?.(error);
    this.#controller.abort(error);
  }
}

function aborted(notice: AbortNotice): UpstreamError {
  return new UpstreamError("aborted", "The call was aborted.", { cause: notice.reason });
}
