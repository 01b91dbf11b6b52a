import { Buffer } from "node:buffer";
import { badGateway, type GatewayError, isGatewayError, upstreamTimeout } from "../../errors/gateway-error.js";
import { ReceivedAnswer } from "../../openai/model-answer.js";
import { toClientError, type UpstreamFailureContext } from "../../openai/upstream-errors/upstream-failure.js";
import { type DirectAnswer, directCallOf } from "../../providers/direct-call.js";
import { isUpstreamError, type UpstreamError, type UpstreamProvider } from "../../providers/upstream-provider.js";
import { noteRefusal } from "../../routing/provider-refusal.js";
import { withoutByteOrderMark } from "../../wire/byte-order-mark.js";
import type { Meter } from "../meter.js";
import { iteratorOf, leaveBody, leaveUnread } from "./body-iterator.js";
import { IdleTimer } from "./idle-timer.js";
import { brokenOff } from "./until-aborted.js";
import { toUpstreamCall, type UpstreamCallParts } from "./upstream-call.js";

/** An error answer is read this far; what is longer is no message for a person. */
const longestErrorBody = 65_536;

/** How long an error answer may take until what has come of it must do, in milliseconds. */
const errorBodyMs = 5_000;

/**
 * Sends the call to the model server, and waits for the answer, though not beyond the end of the call: a provider may not
 * heed its signal.
 * @returns its 200 answer.
 * @throws GatewayError as the client is to see it, or {@link UpstreamError} `aborted`.
 */
export function forward(
  provider: UpstreamProvider,
  parts: UpstreamCallParts,
  context: UpstreamFailureContext,
  meter: Meter,
): Promise<DirectAnswer> {
  const { notice } = parts;
  return new Promise((resolve, reject) => {
    const breakOff = (): void => reject(brokenOff());
    const fail = (error: unknown): void => {
      noteRefusal(error);
      if (isUpstreamError(error) && error.failure === "unreachable") meter.notHandedOver();
      reject(toUpstreamFailure(error));
    };
    const take = (answer: DirectAnswer): void => {
      try {
        if (notice.aborted) {
          leaveUnread(answer.body);
        } else if (answer.status === 200) {
          notice.removeEventListener("abort", breakOff);
          resolve(answer);
        } else {
          readError(answer, { ...context, request: parts.body }).then(reject, fail);
        }
      } catch (error) {
        // What a provider of the host's gives as an answer may be anything.
        fail(error);
      }
    };
    const called = send(provider, parts, meter);
    if (notice.aborted) breakOff();
    else notice.addEventListener("abort", breakOff);
    called.then(take, fail);
  });
}

/** Rejects also where the provider throws at once. */
function send(provider: UpstreamProvider, parts: UpstreamCallParts, meter: Meter): Promise<DirectAnswer> {
  const callDirectly = directCallOf(provider.call);
  // What a host's own provider does with a call is not known.
  if (callDirectly === undefined) meter.handedOver();
  try {
    return Promise.resolve(
      callDirectly === undefined ? provider.call(toUpstreamCall(parts)) : callDirectly(parts, meter),
    );
  } catch (error) {
    return Promise.reject(error);
  }
}

/** The error that an answer other than a 200 is to the client. */
async function readError(
  { status, headers, body: pieces }: DirectAnswer,
  context: UpstreamFailureContext,
): Promise<Error> {
  const body = await readAtMost(pieces, longestErrorBody).catch(ignoreUnlessFinal);
  try {
    return toClientError(status, headers, parseJson(body), context);
  } catch (error) {
    // What a provider of the host's gives as an answer may be anything.
    return toUpstreamFailure(error);
  }
}

/** What a failed call or a broken body is to the client. Leaves {@link UpstreamError} `aborted` and known errors as they are. */
export function toUpstreamFailure(error: unknown): GatewayError | UpstreamError {
  if (isGatewayError(error)) return error;
  if (isUpstreamError(error) && error.failure === "aborted") return error;
  if (isUpstreamError(error) && error.failure === "timeout") return upstreamTimeout(error);
  return badGateway("The model did not answer. Try again.", { cause: error });
}

/** The body's first `most` bytes, or what has come of them in time; the rest is not read. */
async function readAtMost(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const iterator = iteratorOf(body);
  let giveUp = (): void => {};
  const timeUp = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const timer = new IdleTimer(errorBodyMs, giveUp);
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    timer.start();
    while (length < most) {
      const next = await Promise.race([iterator.next(), timeUp]);
      if (next === undefined || next.done) break;
      pieces.push(next.value);
      length += next.value.length;
    }
  } finally {
    timer.stop();
    leaveBody(iterator);
  }
  return Buffer.concat(pieces).subarray(0, most);
}

/** @returns `undefined` where it is no JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  return new ReceivedAnswer(withoutByteOrderMark(bytes)).json;
}

/** An error answer whose body breaks off is still one. */
function ignoreUnlessFinal(error: unknown): Buffer {
  if (isGatewayError(error) || (isUpstreamError(error) && error.failure === "aborted")) throw error;
  return Buffer.alloc(0);
}
