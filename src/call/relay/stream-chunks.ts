import { noteRefusal } from "../../errors/provider-refusal.js";
import type { StreamCodec } from "../../operations/stream-codec.js";
import { isUpstreamError } from "../../providers/upstream-provider.js";
import { ByteWriter } from "../../wire/byte-writer.js";
import type { RelayLimits } from "../call-services.js";
import { type BodyIterator, iteratorOf, leaveBody } from "./body-iterator.js";
import { EventRelay } from "./event-relay.js";
import { JsonDocument } from "./json-document.js";
import type { OutputFlow } from "./output-flow.js";
import { RestartableTimer } from "./restartable-timer.js";

/** What events may grow by as they are rewritten, before the buffer has to. */
const spareBytes = 256;

/** A client that takes so much of a longer event is seen to take something. */
const mostAtOnce = 128 * 1024;

/** Gets a stream's chunks. One of its methods is called for each time that it asks. */
export interface ChunkListener {
  /** What the client gets for one read of the upstream's body. */
  onChunks(chunks: Uint8Array): void;
  /** Nothing came for so long that the client needs a sign of life. */
  onSilence(): void;
  /** The upstream has sent all that it has to send. */
  onEnd(): void;
  /** @param error - StreamFault | EventTooLargeError | GatewayError | what the body threw */
  onFault(error: unknown): void;
}

/** What a stream is made of. */
export interface StreamSource {
  /** The upstream's. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly codec: StreamCodec;
  readonly limits: Pick<RelayLimits, "maxAnswerBytes" | "maxEventBytes" | "keepAliveMs">;
  /** Measures how fast the output comes. */
  readonly flow: OutputFlow;
}

/**
 * Reads an upstream's stream, and makes of it what the client gets. It ends where the codec says so, or with the upstream's body.
 * Written with callbacks, and not as a generator, since tokens mostly come alone: then what it costs to hand one on is
 * most of what it costs at all.
 */
export class StreamChunks {
  readonly #source: AsyncIterable<Uint8Array>;
  #body: BodyIterator | undefined;
  readonly #codec: StreamCodec;
  readonly #relay: EventRelay;
  readonly #document: JsonDocument;
  readonly #timer: RestartableTimer;
  #isEvents = false;
  #isReading = false;
  #isOver = false;
  #isAsked = false;
  /** What has come while nobody asked. */
  #ready: Uint8Array | undefined;
  /** Breaks the stream off behind what is ready. */
  #fault: { error: unknown } | undefined;
  readonly #listener: ChunkListener;
  readonly #flow: OutputFlow;

  constructor({ body, codec, limits, flow }: StreamSource, listener: ChunkListener) {
    this.#source = body;
    this.#codec = codec;
    this.#relay = new EventRelay(codec, limits);
    this.#document = new JsonDocument(limits.maxAnswerBytes);
    this.#listener = listener;
    this.#flow = flow;
    this.#timer = new RestartableTimer(limits.keepAliveMs, () => this.#notifySilence());
  }

  /** The listener wants the next. To be called when it was told of the last. */
  ask(): void {
    this.#isAsked = true;
    this.#timer.start();
    if (this.#ready !== undefined || this.#isOver) this.#notify();
    else if (!this.#isReading) this.#read();
  }

  /** Nothing more is read, and nothing counts that still comes: the stream breaks off behind what is ready. */
  breakOff(error: unknown): void {
    if (this.#isOver) return;
    this.#fault = { error };
    this.#leave();
    this.#notify();
  }

  /** Nobody asks any more. */
  stop(): void {
    this.#timer.stop();
    this.#leave();
  }

  #read(): void {
    this.#isReading = true;
    this.#flow.asked();
    try {
      this.#body ??= iteratorOf(this.#source);
      Promise.resolve(this.#body.next()).then(this.#took, this.#failed);
    } catch (error) {
      this.#failed(error);
    }
  }

  readonly #took = (result: IteratorResult<Uint8Array, unknown>): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    let hasEnded = false;
    try {
      // A body of a host's may give anything.
      if (result.done === true) hasEnded = true;
      else this.#take(result.value);
    } catch (error) {
      this.#fault = { error };
      this.#leave();
    }
    if (hasEnded) this.#end();
    else if (this.#ready !== undefined || this.#isOver) this.#notify();
    else this.#read();
  };

  readonly #failed = (error: unknown): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    noteRefusal(error);
    // All that was asked for has arrived: how the connection ends does not matter any more.
    const isEnough = this.#codec.progress.isComplete && isUpstreamError(error) && error.failure !== "aborted";
    if (!isEnough) this.#fault = { error };
    this.#end();
  };

  #take(bytes: Uint8Array): void {
    if (!this.#isEvents && this.#document.take(bytes)) return;
    this.#isEvents = true;
    const out = new ByteWriter(bytes.length + spareBytes);
    try {
      this.#relay.read(bytes, out);
    } finally {
      const { seenOutput, reasons } = this.#codec.progress;
      this.#flow.came(seenOutput, reasons);
      // What came before a fault is the client's.
      if (out.length > 0) this.#ready = out.finish();
    }
    if (this.#codec.progress.isDone) this.#leave();
  }

  /** The body is over. */
  #end(): void {
    this.#isOver = true;
    try {
      if (this.#fault === undefined) this.#ready = this.#rest();
    } catch (error) {
      this.#fault = { error };
    }
    this.#notify();
  }

  /** What can be told to be complete only now. */
  #rest(): Uint8Array | undefined {
    if (this.#document.length > 0) return this.#codec.whole(this.#document.bytes);
    const out = new ByteWriter(spareBytes);
    this.#relay.end(out);
    return out.length > 0 ? out.finish() : undefined;
  }

  /** The rest of the body is nobody's. */
  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    leaveBody(this.#body);
  }

  #notify(): void {
    if (!this.#isAsked) return;
    this.#isAsked = false;
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready !== undefined) this.#notifyChunks(ready);
    else if (this.#fault !== undefined) this.#listener.onFault(this.#fault.error);
    else this.#listener.onEnd();
  }

  #notifyChunks(ready: Uint8Array): void {
    if (ready.length > mostAtOnce) this.#ready = ready.subarray(mostAtOnce);
    this.#listener.onChunks(this.#ready === undefined ? ready : ready.subarray(0, mostAtOnce));
  }

  #notifySilence(): void {
    if (!this.#isAsked) return;
    this.#isAsked = false;
    this.#listener.onSilence();
  }
}
