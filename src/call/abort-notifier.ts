import type { AbortNotice } from "../providers/upstream-provider.js";

type Listener = (() => void) | { handleEvent(): void };

/** A host's own provider may add a listener that throws. The other listeners must run all the same. */
function notify(listener: Listener | undefined): void {
  try {
    if (typeof listener === "function") listener();
    else listener?.handleEvent();
  } catch {}
}

/**
 * A cheap `AbortController` and `AbortSignal` for one request. Creating the real ones costs microseconds, a large part
 * of a request's whole cost.
 */
export class AbortNotifier implements AbortNotice {
  #aborted = false;
  /** There is hardly ever more than one listener. */
  #first: Listener | undefined;
  #others: Listener[] | undefined;
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  /** The same as an `AbortSignal`, created on first access. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#controller?.abort();
    const listeners = [this.#first, ...(this.#others ?? [])];
    this.#first = undefined;
    this.#others = undefined;
    for (const listener of listeners) notify(listener);
  }

  /** The listener is called at most once, and never during this call. */
  addEventListener(_type: "abort", listener: Listener): void {
    if (this.#aborted) return;
    if (this.#first === undefined) {
      this.#first = listener;
      return;
    }
    this.#others ??= [];
    this.#others.push(listener);
  }

  removeEventListener(_type: "abort", listener: Listener): void {
    if (this.#first === listener) this.#first = undefined;
    else this.#others = this.#others?.filter((other) => other !== listener);
  }
}
