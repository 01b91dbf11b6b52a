import { Buffer } from "node:buffer";
import { badGateway, type GatewayError, isGatewayError } from "../../errors/gateway-error.js";
import { askedTooMuch, isRefusal } from "../../errors/refusal.js";
import { endReasonOf, type Outcome, type TextsObserver } from "../../events/request-observer.js";
import type { EndReason } from "../../prices/charge.js";
import type { StreamProgress } from "../../prices/progress.js";
import type { ByteAnswer, StreamCodec } from "../../protocols/shared/stream-codec.js";
import { isUpstreamError } from "../../providers/upstream-provider.js";
import type { KeyMask } from "../../redaction/key-mask.js";
import { TooLargeError } from "../../wire/bytes.js";
import { nextPiece, type PieceReader, type PieceSource, readPiece } from "../../wire/piece-source.js";
import { type LateBytes, nextSlice, type Outgoing, wholeOutgoing } from "../../wire/slices.js";
import type { AbortNotifier } from "../abort-notifier.js";
import type { RelayLimits } from "../call-services.js";
import type { Departure } from "../departure.js";
import type { ReviewedEnd } from "../guarded/response-review.js";
import type { Meter } from "../meter.js";
import type { AbortReason } from "../open-calls.js";
import { abortError } from "./abort-error.js";
import { ByteChunks } from "./byte-chunks.js";
import { RestartableTimer } from "./restartable-timer.js";
import { toUpstreamFailure } from "./send.js";
import { type ChunkReader, mostAtOnce, StreamChunks } from "./stream-chunks.js";
import { brokenOff } from "./until-aborted.js";

/** The part of an attempt that relaying a stream needs. */
export interface StreamedAttempt {
  readonly call: {
    readonly abortReason: AbortReason | undefined;
    abort(reason: AbortReason): void;
    /** `undefined`: its client has not left, or is not waited for. */
    readonly departure?: Pick<Departure, "cameWhole"> | undefined;
    readonly services: { readonly limits: RelayLimits };
  };
  readonly meter: Pick<Meter, "follow" | "outgrew">;
  /** Aborts the attempt, even where the provider ignores its signal. */
  readonly notice: AbortNotifier;
  /** Whether another target may still be tried while this one has sent no event. */
  readonly holdsStatus: boolean;
  /** Absent: nothing is taken out. */
  readonly keyMask?: KeyMask | undefined;
  /** Settles the call. Called exactly once, before the client gets the end of the stream. */
  end(outcome: Outcome): unknown;
}

/** What happens at the end of a stream, before its client gets the end. */
export interface StreamEnding {
  /** See {@link Exchange.keep}. */
  readonly keep?: ((instead?: string) => Promise<void>) | undefined;
  /** Gets all that the client gets, unless the stream breaks off. */
  readonly texts?: Pick<TextsObserver, "streamed"> | undefined;
  /** Has the host's guards check the answer. @param closing - what would end the stream. */
  readonly review?: ((closing: Uint8Array) => Promise<ReviewedEnd>) | undefined;
}

/**
 * Relays a stream: each upstream event is sent before the next one is read. Before the first piece, failures are thrown
 * as {@link GatewayError} or {@link UpstreamError} `aborted`. After it, a failure is an error event.
 */
export class StreamRelay implements AsyncIterableIterator<Uint8Array, undefined>, PieceSource, ChunkReader {
  readonly isByTick = true;
  readonly #attempt: StreamedAttempt;
  readonly #codec: StreamCodec;
  readonly #chunks: StreamChunks | ByteChunks;
  readonly #ending: StreamEnding;
  /** Sends keep-alives while guards check the answer; `undefined` before that. */
  #silence: RestartableTimer | undefined;
  /** Whether the upstream's stream is over, and the end of the client's will come by itself. */
  #isEnding = false;
  /** What its client has not read yet. */
  #rest: Uint8Array | undefined;
  /** What ends the stream, as far as it is not written yet. */
  #late: LateBytes | undefined;
  #waiting: PieceReader | undefined;
  /** Whether the client has received something. */
  #committed = false;
  /** Resolves when the call is settled; `undefined` until it has ended. */
  #settled: Promise<void> | undefined;
  #isOver = false;
  /** What broke off a stream of bytes while nobody read it. */
  #broken: { readonly by: unknown } | undefined;

  /**
   * @param body - the upstream's body alone. Its whole response would stay in memory while the stream is open.
   */
  constructor(
    attempt: StreamedAttempt,
    codec: StreamCodec | (StreamCodec & Required<Pick<ByteAnswer, "take">>),
    body: AsyncIterable<Uint8Array>,
    ending: StreamEnding = {},
  ) {
    this.#attempt = attempt;
    this.#codec = codec;
    this.#ending = ending;
    const flow = attempt.meter.follow(codec.progress);
    this.#chunks =
      "take" in codec
        ? new ByteChunks(body, codec, this)
        : new StreamChunks({ body, codec, limits: attempt.call.services.limits, flow, mask: attempt.keyMask }, this);
    const { notice } = attempt;
    const breakOff = (): void => this.#chunks.breakOff(brokenOff());
    if (notice.aborted) breakOff();
    else notice.addEventListener("abort", breakOff);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [readPiece](reader: PieceReader): void {
    if (this.#waiting) throw new TypeError("The stream is being read: wait for the last next().");
    if (this.#isOver) {
      if (this.#broken === undefined) reader.ended();
      else reader.failed(this.#broken.by);
      return;
    }
    this.#waiting = reader;
    if (this.#rest !== undefined) this.#give(this.#rest);
    else if (this.#late !== undefined) this.#giveLate(this.#late);
    else if (this.#isEnding) this.#silence?.start();
    else if (this.#settled === undefined) this.#chunks.ask();
    else this.#end();
  }

  /** Call it again only after the last promise has settled. */
  next(): Promise<Piece> {
    return nextPiece(this);
  }

  /** Gives back a piece that was read: it is the next one again. It may be the beginning of a large one. */
  unread(piece: Uint8Array): void {
    this.#rest = this.#rest === undefined ? piece : Buffer.concat([piece, this.#rest]);
  }

  leave(): void {
    this.return().catch(() => {});
  }

  /** The client has left. */
  async return(): Promise<Piece> {
    if (this.#settled === undefined) {
      const { call } = this.#attempt;
      void this.#settle({ reason: call.abortReason ?? "client_gone" });
      call.abort("client_gone");
    }
    try {
      await this.#settled;
    } finally {
      this.#end();
    }
    return done;
  }

  /** Reads the rest, which nobody takes. The client's last read may be under way. */
  async readOn(departure: Pick<Departure, "progress">): Promise<void> {
    // Failures are settled where they are found.
    try {
      await this.#lastRead();
      do departure.progress(outputOf(this.#codec.progress));
      while (!(await this.next()).done);
    } catch {}
  }

  /** Waits for the read that is under way, if there is one. Whoever reads gets its piece all the same. */
  async #lastRead(): Promise<void> {
    const reader = this.#waiting;
    if (reader === undefined) return;
    await new Promise<void>((resolve) => {
      this.#waiting = {
        took: (piece) => {
          resolve();
          reader.took(piece);
        },
        ended: () => {
          resolve();
          reader.ended();
        },
        failed: (error) => {
          resolve();
          reader.failed(error);
        },
      };
    });
  }

  took(chunks: Uint8Array): void {
    this.#committed = true;
    this.#ending.texts?.streamed(chunks);
    this.#give(chunks);
  }

  silent(): void {
    if (this.#codec.isBytes || (!this.#committed && this.#attempt.holdsStatus)) {
      this.#chunks.ask();
      return;
    }
    this.#committed = true;
    this.#give(this.#codec.keepAlive());
  }

  ended(): void {
    if (this.#settled !== undefined) return;
    let closing: Outgoing;
    try {
      closing = this.#codec.end();
    } catch (error) {
      this.failed(error);
      return;
    }
    const { review } = this.#ending;
    if (review === undefined) {
      this.#finish(closing);
      return;
    }
    const { call } = this.#attempt;
    if (this.#codec.progress.isCounted) call.departure?.cameWhole();
    this.#isEnding = true;
    this.#silence = new RestartableTimer(this.#attempt.call.services.limits.keepAliveMs, () => this.#keepAlive());
    this.#silence.start();
    review(wholeOutgoing(closing)).then(
      (reviewed) => this.#finish(reviewed.closing, reviewed.instead),
      (error) => this.#reviewFailed(error),
    );
  }

  #finish(end: Outgoing, instead?: string): void {
    if (this.#settled !== undefined) return;
    const { keep, texts } = this.#ending;
    const closing = texts === undefined ? end : wholeOutgoing(end);
    if (closing instanceof Uint8Array) texts?.streamed(closing);
    const ended = this.#settle({ reason: "completed" });
    (keep === undefined ? ended : ended.then(() => keep(instead))).then(
      () => this.#close(closing),
      (error) => this.#fail(error),
    );
  }

  /** The upstream has done its work, so the call is charged, although the client gets an error. */
  #reviewFailed(thrown: unknown): void {
    if (!isGatewayError(thrown)) this.failed(thrown);
    else if (this.#settled === undefined) this.#break({ reason: "completed" }, thrown, thrown);
  }

  failed(problem: unknown): void {
    if (this.#settled !== undefined) return;
    const isAskedFor = problem instanceof TooLargeError && this.#attempt.meter.outgrew();
    const thrown = isAskedFor ? askedTooMuch(problem.message) : problem;
    const { reason, error } = describeFailure(thrown, this.#attempt.call.abortReason, this.#committed);
    this.#break(error === undefined ? { reason } : { reason, error }, error, thrown);
  }

  /** @param error - for the client; `undefined`: it has left. */
  #break(outcome: Outcome, error: GatewayError | undefined, thrown: unknown): void {
    this.#settle(outcome).then(
      () => {
        if (!this.#committed) this.#fail(error ?? thrown);
        else if (error !== undefined && this.#codec.isBytes) this.#breakOff(error);
        else if (error !== undefined) this.#close(this.#codec.fault(error));
        else this.#end();
      },
      (error) => this.#fail(error),
    );
  }

  /** Bytes that end well would be taken for all that there are. */
  #breakOff(error: GatewayError): void {
    this.#broken = { by: error };
    this.#fail(error);
  }

  /** Gives the client the end of its stream. */
  #close(closing: Outgoing): void {
    this.#isEnding = false;
    this.#silence?.stop();
    if (closing instanceof Uint8Array) {
      this.#give(closing);
      return;
    }
    this.#late = closing;
    if (this.#waiting !== undefined) this.#giveLate(closing);
  }

  /** Gives the next part of what ends the stream, in a turn of its own. */
  #giveLate(late: LateBytes): void {
    void nextSlice().then(() => {
      if (this.#isOver) return;
      const piece = late.next();
      if (piece !== undefined) {
        this.#give(piece);
        return;
      }
      this.#late = undefined;
      this.#end();
    });
  }

  #keepAlive(): void {
    if (this.#waiting === undefined) return;
    this.#committed = true;
    this.#give(this.#codec.keepAlive());
  }

  #settle(outcome: Outcome): Promise<void> {
    const settle = async (): Promise<void> => {
      await this.#attempt.end(outcome);
    };
    this.#settled = settle();
    return this.#settled;
  }

  /** A piece that is not being read is kept for the next read. Of a large one, a part is given at a time. */
  #give(piece: Uint8Array): void {
    const waiting = this.#takeWaiting();
    const given = waiting === undefined ? 0 : mostAtOnce;
    this.#rest = piece.length > given ? piece.subarray(given) : undefined;
    waiting?.took(given < piece.length ? piece.subarray(0, given) : piece);
  }

  #fail(error: unknown): void {
    const waiting = this.#takeWaiting();
    this.#end();
    waiting?.failed(error);
  }

  #end(): void {
    this.#isOver = true;
    this.#chunks.stop();
    this.#silence?.stop();
    this.#takeWaiting()?.ended();
  }

  #takeWaiting(): PieceReader | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}

type Piece = IteratorResult<Uint8Array, undefined>;

const done: Piece = { done: true, value: undefined };

/** Nothing is counted of what is no text. */
function outputOf(progress: Pick<StreamProgress, "seenOutput" | "tokens">): number {
  return progress.seenOutput === 0 ? 0 : progress.tokens.output;
}

interface Failure {
  reason: EndReason;
  /** `undefined`: the client has left. */
  error: GatewayError | undefined;
}

function describeFailure(thrown: unknown, abortReason: AbortReason | undefined, committed: boolean): Failure {
  if (abortReason !== undefined) return { reason: abortReason, error: abortError(abortReason) };
  if (committed) return describeBreak(thrown);
  const failure = toUpstreamFailure(thrown);
  // A provider that reports "aborted" although the gateway aborted nothing has failed.
  const error = isUpstreamError(failure)
    ? badGateway("The model did not answer. Try again.", { cause: failure })
    : failure;
  return { reason: endReasonOf(error), error };
}

/** The client has a part of the response, so the error must not say that there was none. */
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
