import { isOwnAccount } from "../../model-api/failure/own-account.js";
import { readRetryAfter } from "../../model-api/failure/read-retry-after.js";
import { toErrorAnswer } from "../error-answer.js";

/** Of one request, all of its calls together. */
const mostRounds = 2;
const budgetMs = 10_000;
const firstPauseMs = 200;

/** Whether calls of a request that is served by several may be made again, and when. */
export class SliceRetries {
  readonly #signal: AbortSignal;
  #rounds = 0;
  #leftMs = budgetMs;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Waits as long as the model asks, else by a back-off. @param failures - what the calls of one round threw. */
  async mayFollow(failures: readonly unknown[]): Promise<boolean> {
    if (this.#rounds === mostRounds || !failures.every(mayPass)) return false;
    const usualMs = firstPauseMs * 2 ** this.#rounds * (0.5 + Math.random() / 2);
    const waitMs = Math.max(...failures.map((failure) => askedMs(failure) ?? usualMs));
    if (waitMs > this.#leftMs) return false;
    this.#rounds++;
    this.#leftMs -= waitMs;
    await pause(waitMs, this.#signal);
    return !this.#signal.aborted;
  }
}

/** Whether the same call may succeed: its server is at its capacity, or has failed. */
function mayPass(failure: unknown): boolean {
  const { status = 0, error } = toErrorAnswer(failure);
  const [type, code, message] = [error["type"], error["code"], error["message"]].map((said) => String(said ?? ""));
  const isPassing = status === 408 || status === 429 || status >= 500;
  return isPassing && !isOwnAccount({ type: type ?? "", code: code ?? "", message: message ?? "" });
}

function askedMs(failure: unknown): number | undefined {
  const seconds = readRetryAfter(toErrorAnswer(failure).headers, Date.now());
  return seconds === undefined ? undefined : Math.max(0, seconds * 1000);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
