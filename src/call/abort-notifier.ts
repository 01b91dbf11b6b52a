import type { AbortNotice } from "../providers/upstream-provider.js";

type Listener = (() => void) | { handleEvent(): void };

/** A listener of a host's own provider that throws keeps nobody else from learning of it. */
function notify(listener: Listener | undefined): void {
  try {
    if (typeof listener === "function") listener();
    else listener?.handleEvent();
  } catch {}
}

/**
 * What an `AbortController` and its signal are for, as far as one request needs it: a whole one costs microseconds,
 * which is much of what a request costs at all.
 */
export class AbortNotifier implements AbortNotice {
  #aborted = false;
  /** Hardly ever more than one. */
  #first: Listener | undefined;
  #others: Listener[] | undefined;
  #controller: AbortController | undefined;

  get aborted(): boolean {
    return this.#aborted;
  }

  /** The same as a signal, made when it is first asked for. */
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

  /** Calls the listener when it comes to that; never at once, and at most once. */
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
