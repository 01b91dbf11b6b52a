import { Buffer } from "node:buffer";
import { type ChatStream, StreamFault } from "../openai/chat-stream.js";
import { badGateway, type ErrorObject, type GatewayError, serviceUnavailable, toErrorJson } from "../openai/errors.js";
import { fromErrorObject, type UpstreamFailureContext } from "../openai/upstream-failure.js";
import { isUpstreamError } from "../providers/upstream-provider.js";
import { toUpstreamFailure } from "./forward.js";
import type { Call } from "./in-flight.js";
import type { RelayOptions } from "./pipeline.js";
import { type EndReason, endReasonOf, type Outcome } from "./settle.js";
import { overdue, StreamChunks } from "./stream-chunks.js";

/**
 * Passes a stream on, each upstream event before the next one arrives. All that becomes known before the first piece is
 * thrown, as {@link GatewayError} or {@link UpstreamError} `aborted`; after it, a failure is an error event.
 *
 * @param body - the upstream's; not its whole answer, which would be kept for as long as the stream is open.
 * @param finish - settles the call. Called exactly once, and before the client learns that the stream has ended.
 */
export async function* relayStream(
  body: AsyncIterable<Uint8Array>,
  stream: ChatStream,
  call: Call,
  context: UpstreamFailureContext,
  options: RelayOptions & {
    /** Before the first event, silence does not commit the answer to this upstream: another one may have its turn. */
    holdsStatus?: boolean;
  },
  finish: (outcome: Outcome) => unknown,
): AsyncGenerator<Uint8Array, void, void> {
  const chunks = new StreamChunks(body, stream, options);
  let finished = false;
  let committed = false;
  const end = (outcome: Outcome): unknown => {
    finished = true;
    return finish(outcome);
  };
  try {
    for (;;) {
      const next = await chunks.next();
      if (next === undefined) break;
      if (next === overdue && !committed && options.holdsStatus === true) continue;
      committed = true;
      yield next === overdue ? keepAlive : next;
    }
    const closing = stream.end();
    await end({ reason: "completed", tokens: stream.tokens, source: stream.estimated ? "estimated" : "provider" });
    committed = true;
    yield closing;
  } catch (thrown) {
    if (finished) throw thrown;
    const failure = describeFailure(thrown, call, context, committed);
    await end(brokenOff(failure.reason, stream, failure.error));
    if (!committed) throw failure.error ?? thrown;
    if (failure.error !== undefined) yield errorEvent(failure.error);
  } finally {
    // The client has left between two pieces.
    if (!finished) {
      call.abort("client_gone");
      await end(brokenOff("client_gone", stream));
    }
    chunks.stop();
  }
}

const keepAlive = Buffer.from(": keep-alive\n\n");

function errorEvent(error: ErrorObject): Uint8Array {
  return Buffer.from(`data: ${toErrorJson(error)}\n\n`);
}

interface Failure {
  reason: EndReason;
  /** `undefined`: the client is gone, nobody is to be told. */
  error: GatewayError | undefined;
}

function describeFailure(thrown: unknown, call: Call, context: UpstreamFailureContext, committed: boolean): Failure {
  if (call.abortReason === "client_gone") return { reason: "client_gone", error: undefined };
  if (call.abortReason === "shutdown") {
    return { reason: "shutdown", error: serviceUnavailable("The gateway is shutting down. Try again shortly.") };
  }
  if (thrown instanceof StreamFault && thrown.reason === "error") {
    const error = fromErrorObject(thrown.upstreamError, context);
    return committed ? describeBreak(error) : { reason: endReasonOf(error), error };
  }
  if (committed) return describeBreak(thrown);
  const failure = toUpstreamFailure(thrown);
  // A provider that says "aborted" without having been told to is one that failed.
  const error = isUpstreamError(failure)
    ? badGateway("The model did not answer. Try again.", { cause: failure })
    : failure;
  return { reason: endReasonOf(error), error };
}

/** The client has part of the answer: it must not read that there was none. */
function describeBreak(thrown: unknown): Failure {
  const failure = toUpstreamFailure(thrown);
  const error =
    isUpstreamError(failure) || failure.code === "bad_gateway"
      ? badGateway("The model's answer broke off. Try again.", {
          cause: isUpstreamError(failure) ? failure : failure.cause,
        })
      : failure;
  return { reason: endReasonOf(error), error };
}

/**
 * What a stream comes to that did not reach its end: a failure is charged once there was output, the departure of a
 * client from the moment of the upstream's 200.
 */
export function brokenOff(reason: EndReason, stream: ChatStream, error?: GatewayError): Outcome {
  const { tokens } = stream;
  const isCharged = reason === "client_gone" || stream.hasOutput;
  const source = stream.complete && !stream.estimated ? "provider" : "partial";
  if (error === undefined) return { reason, tokens, source: isCharged ? source : undefined };
  const reported = stream.estimated || isCharged ? undefined : tokens;
  return { reason, tokens, source: isCharged ? source : undefined, error, reported };
}
