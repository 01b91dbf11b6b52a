import { letProcessEnd } from "../runtime/let-process-end.js";
import { afterTurn } from "../runtime/runtime.js";

/** As an async function does: what it throws rejects. It makes no promise of its own. */
export function promised<Result>(start: () => Promise<Result>): Promise<Result> {
  try {
    return start();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** What becomes of an answer of which nothing else is made. */
export function asItIs<Answer>(answer: Answer): Answer {
  return answer;
}

/** Resolves in the next turn of the event loop, after other work. A promise alone would resolve in the same turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => afterTurn(resolve));
}

/**
 * Waits for a promise, for `ms` milliseconds at most.
 *
 * @param keepsAlive - whether the process lives on meanwhile, though nothing else of it runs.
 */
export async function atMost(ms: number, awaited: Promise<unknown> | undefined, keepsAlive = false): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
    if (!keepsAlive) letProcessEnd(timer);
  });
  try {
    await Promise.race([awaited, over]);
  } finally {
    clearTimeout(timer);
  }
}
