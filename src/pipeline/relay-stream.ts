import { Buffer } from "node:buffer";
import { ByteWriter } from "../openai/byte-writer.js";
import { ChatEventRelay } from "../openai/chat-event-relay.js";
import { type ChatStream, StreamFault } from "../openai/chat-stream.js";
import { badGateway, type ErrorObject, type GatewayError, serviceUnavailable, toErrorJson } from "../openai/errors.js";
import { fromErrorObject, type UpstreamFailureContext } from "../openai/upstream-failure.js";
import { isUpstreamError, type UpstreamAnswer } from "../providers/upstream-provider.js";
import { toUpstreamFailure } from "./forward.js";
import type { Call } from "./in-flight.js";
import { KeepAliveTimer, overdue } from "./keep-alive-timer.js";
import type { RelayOptions } from "./pipeline.js";
import { type EndReason, endReasonOf, type Outcome } from "./settle.js";
import { UpstreamDocument } from "./upstream-document.js";

/**
 * Passes a stream on, each upstream event before the next one arrives. All that becomes known before the first piece is
 * thrown, as {@link GatewayError} or {@link UpstreamError} `aborted`; after it, a failure is an error event.
 *
 * @param finish - settles the call. Called exactly once, and before the client learns that the stream has ended.
 */
export async function* relayStream(
  answer: UpstreamAnswer,
  stream: ChatStream,
  call: Call,
  context: UpstreamFailureContext,
  options: RelayOptions & {
    /** Before the first event, silence does not commit the answer to this upstream: another one may have its turn. */
    holdsStatus?: boolean;
  },
  finish: (outcome: Outcome) => unknown,
): AsyncGenerator<Uint8Array, void, void> {
  const timer = new KeepAliveTimer(options.keepAliveMs);
  const chunks = readChunks(answer, stream, options);
  let finished = false;
  let committed = false;
  const end = (outcome: Outcome): unknown => {
    finished = true;
    return finish(outcome);
  };
  try {
    for (let pending = chunks.next(); ; ) {
      const next = await timer.wait(pending);
      if (next !== overdue && next.done) break;
      if (next === overdue && !committed && options.holdsStatus === true) continue;
      committed = true;
      yield next === overdue ? keepAlive : next.value;
      if (next !== overdue) pending = chunks.next();
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
    timer.stop();
    // The client has left between two pieces.
    if (!finished) {
      call.abort("client_gone");
      await end(brokenOff("client_gone", stream));
    }
    // Not waited for: a provider that does not heed its signal must not keep the client.
    chunks.return(undefined).catch(() => {});
  }
}

/** The stream's events, those of one read together. Ends at `[DONE]` or with the upstream's body. */
async function* readChunks(
  answer: UpstreamAnswer,
  stream: ChatStream,
  { maxEventBytes, maxAnswerBytes }: RelayOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const relay = new ChatEventRelay(stream, { maxEventBytes });
  const document = new UpstreamDocument(maxAnswerBytes);
  let isEvents = false;
  try {
    for await (const bytes of answer.body) {
      if (!isEvents && document.take(bytes)) continue;
      isEvents = true;
      const out = new ByteWriter(bytes.length + spareBytes);
      let fault: { error: unknown } | undefined;
      try {
        relay.read(bytes, out);
      } catch (error) {
        fault = { error };
      }
      // What came before the fault is the client's.
      if (out.length > 0) yield out.finish();
      if (fault !== undefined) throw fault.error;
      if (stream.done) return;
    }
  } catch (error) {
    // All that was asked for has arrived: how the connection ends does not matter any more.
    if (!(stream.complete && isUpstreamError(error) && error.failure !== "aborted")) throw error;
  }
  if (document.length > 0) {
    const piece = stream.push(document.toChunk());
    if (piece !== undefined) yield piece;
    return;
  }
  const out = new ByteWriter(spareBytes);
  relay.end(out);
  if (out.length > 0) yield out.finish();
}

/** What events may grow by as they are rewritten, before the buffer has to. */
const spareBytes = 256;

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
