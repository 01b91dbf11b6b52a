import { UpstreamError } from "../providers/upstream-provider.js";
import type { AbortNotifier } from "./abort-notifier.js";
import { iteratorOf, leaveBody } from "./body-iterator.js";

/** What a provider does for a call that was broken off counts no more, whether it heeds its signal or not. */
export function brokenOff(): UpstreamError {
  return new UpstreamError("aborted", "The call was broken off.");
}

/**
 * Waits for what a provider promises, but not beyond the end of its call.
 * @param left - gets what comes of it later.
 * @throws UpstreamError `aborted`
 */
export function answerUntilAborted<Answer>(
  notice: AbortNotifier,
  answer: Promise<Answer>,
  left: (late: Answer) => unknown,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(brokenOff());
    if (notice.aborted) giveUp();
    else notice.addEventListener("abort", giveUp);
    answer
      .then((value) => {
        if (notice.aborted) left(value);
        else notice.removeEventListener("abort", giveUp);
        resolve(value);
      })
      .catch(reject);
  });
}

/** A provider's body, as long as its call goes on: then it throws `aborted`, and the provider's own is left. */
export function bodyUntilAborted(notice: AbortNotifier, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = iteratorOf(body);
      let giveUp = (): void => {};
      notice.addEventListener("abort", () => {
        leaveBody(iterator);
        giveUp();
      });
      return {
        next: () =>
          new Promise((resolve, reject) => {
            giveUp = () => reject(brokenOff());
            if (notice.aborted) giveUp();
            else Promise.resolve(iterator.next()).then(resolve, reject);
          }),
        return: () => {
          leaveBody(iterator);
          return Promise.resolve({ done: true, value: undefined });
        },
      };
    },
  };
}
