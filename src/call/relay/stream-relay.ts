import { Buffer } from "node:buffer";
import { badGateway, type ErrorObject, type GatewayError, toErrorJson } from "../../errors/gateway-error.js";
import type { EndReason } from "../../metering/outcome.js";
import { type ChatStream, StreamFault } from "../../openai/chat/chat-stream.js";
import { fromErrorObject, type UpstreamFailureContext } from "../../openai/upstream-errors/upstream-failure.js";
import { isUpstreamError } from "../../providers/upstream-provider.js";
import { endReasonOf, type Outcome } from "../../routing/outcome.js";
import { isRefusal } from "../../routing/provider-refusal.js";
import type { AbortNotifier } from "../abort-notifier.js";
import type { Call } from "../open-calls.js";
import { abortError } from "./abort-error.js";
import { toUpstreamFailure } from "./send.js";
import { type ChunkListener, StreamChunks, type StreamChunksOptions } from "./stream-chunks.js";
import { brokenOff } from "./until-aborted.js";

interface StreamRelayOptions extends StreamChunksOptions {
  /** Before the first event, silence does not commit the answer to this upstream: another one may have its turn. */
  holdsStatus?: boolean;
  /** Breaks it off, whether the provider heeds it or not. */
  notice: AbortNotifier;
}

/**
 * Passes a stream on, each upstream event before the next one arrives. All that becomes known before the first piece is
 * thrown, as {@link GatewayError} or {@link UpstreamError} `aborted`; after it, a failure is an error event.
 */
export class StreamRelay implements AsyncIterableIterator<Uint8Array, void>, ChunkListener {
  readonly #chunks: StreamChunks;
  readonly #stream: ChatStream;
  readonly #call: Call;
  readonly #context: UpstreamFailureContext;
  readonly #holdsStatus: boolean;
  readonly #finish: (outcome: Outcome) => unknown;
  #waiting: Waiting | undefined;
  /** The client has got something. */
  #committed = false;
  /** The call has ended: resolves when it is settled. */
  #settled: Promise<void> | undefined;
  #isOver = false;

  /**
   * @param body - the upstream's; not its whole answer, which would be kept for as long as the stream is open.
   * @param finish - settles the call. Called exactly once, and before the client learns that the stream has ended.
   */
  constructor(
    body: AsyncIterable<Uint8Array>,
    stream: ChatStream,
    call: Call,
    context: UpstreamFailureContext,
    options: StreamRelayOptions,
    finish: (outcome: Outcome) => unknown,
  ) {
    this.#chunks = new StreamChunks(body, stream, options, this);
    this.#stream = stream;
    this.#call = call;
    this.#context = context;
    this.#holdsStatus = options.holdsStatus === true;
    this.#finish = finish;
    const { notice } = options;
    const breakOff = (): void => this.#chunks.breakOff(brokenOff());
    if (notice.aborted) breakOff();
    else notice.addEventListener("abort", breakOff);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** To be called when the last promise has resolved. */
  next(): Promise<Piece> {
    if (this.#waiting) return Promise.reject(new TypeError("The stream is being read: wait for the last next()."));
    if (this.#isOver) return Promise.resolve(done);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.#settled === undefined) this.#chunks.ask();
      else this.#end();
    });
  }

  /** The client has left. */
  async return(): Promise<Piece> {
    if (this.#settled === undefined) {
      void this.#settle({ reason: this.#call.abortReason ?? "client_gone" });
      this.#call.abort("client_gone");
    }
    try {
      await this.#settled;
    } finally {
      this.#end();
    }
    return done;
  }

  onChunks(chunks: Uint8Array): void {
    this.#committed = true;
    this.#give(chunks);
  }

  onSilence(): void {
    if (!this.#committed && this.#holdsStatus) {
      this.#chunks.ask();
      return;
    }
    this.#committed = true;
    this.#give(keepAlive);
  }

  onEnd(): void {
    if (this.#settled !== undefined) return;
    let closing: Uint8Array;
    try {
      closing = this.#stream.end();
    } catch (error) {
      this.onFault(error);
      return;
    }
    this.#settle({ reason: "completed" }).then(
      () => this.#give(closing),
      (error) => this.#fail(error),
    );
  }

  onFault(thrown: unknown): void {
    if (this.#settled !== undefined) return;
    const { reason, error } = this.#describe(thrown);
    this.#settle(error === undefined ? { reason } : { reason, error }).then(
      () => {
        if (!this.#committed) this.#fail(error ?? thrown);
        else if (error !== undefined) this.#give(errorEvent(error));
        else this.#end();
      },
      (error) => this.#fail(error),
    );
  }

  #describe(thrown: unknown): Failure {
    try {
      return describeFailure(thrown, this.#call, this.#context, this.#committed);
    } catch (cause) {
      // A host's own reading of errors, for instance, may fail.
      return describeFailure(cause, this.#call, this.#context, this.#committed);
    }
  }

  #settle(outcome: Outcome): Promise<void> {
    const settle = async (): Promise<void> => {
      await this.#finish(outcome);
    };
    this.#settled = settle();
    return this.#settled;
  }

  #give(piece: Uint8Array): void {
    this.#takeWaiting()?.resolve({ done: false, value: piece });
  }

  #fail(error: unknown): void {
    const waiting = this.#takeWaiting();
    this.#end();
    waiting?.reject(error);
  }

  #end(): void {
    this.#isOver = true;
    this.#chunks.stop();
    this.#takeWaiting()?.resolve(done);
  }

  #takeWaiting(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}

type Piece = IteratorResult<Uint8Array, void>;

interface Waiting {
  resolve(piece: Piece): void;
  reject(error: unknown): void;
}

const done: Piece = { done: true, value: undefined };

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
  if (call.abortReason !== undefined) return { reason: call.abortReason, error: abortError(call.abortReason) };
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
    isUpstreamError(failure) || (failure.code === "bad_gateway" && !isRefusal(failure))
      ? badGateway("The model's answer broke off. Try again.", {
          cause: isUpstreamError(failure) ? failure : failure.cause,
        })
      : failure;
  return { reason: endReasonOf(error), error };
}
