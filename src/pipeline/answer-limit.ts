import { type GatewayError, upstreamTimeout } from "../openai/errors.js";
import { UpstreamError } from "../providers/upstream-provider.js";
import type { Call } from "./in-flight.js";

/** What the client of a call is told whose answer took longer than `maxAnswerMs`. */
export function answerTookTooLong(): GatewayError {
  return upstreamTimeout(new Error("The answer took longer than maxAnswerMs allows."));
}

/**
 * Waits for what a provider promises, but not longer than the call's answer may take, even where the provider does not
 * heed its signal.
 * @param left - gets what comes of it later.
 * @throws UpstreamError `aborted`
 */
export function withinAnswerTime<Answer>(
  call: Call,
  answer: Promise<Answer>,
  left: (late: Answer) => unknown,
): Promise<Answer> {
  if (!call.isLimited) return answer;
  return new Promise((resolve, reject) => {
    let isOver = false;
    const giveUp = (): void => {
      // Whoever else ends the call waits for its upstream to end, as ever.
      if (call.abortReason !== "upstream_timeout") return;
      isOver = true;
      reject(new UpstreamError("aborted", "The answer took too long."));
    };
    call.notice.addEventListener("abort", giveUp);
    if (call.notice.aborted) giveUp();
    answer.then((value) => (isOver ? left(value) : resolve(value)), reject);
  });
}
