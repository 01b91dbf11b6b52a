import { noteRefusal } from "../../errors/provider-refusal.js";
import type { StreamCodec } from "../../operations/stream-codec.js";
import { isUpstreamError } from "../../providers/upstream-provider.js";
import { ByteWriter } from "../../wire/byte-writer.js";
import { joinOutgoing, LateBytes, type Outgoing } from "../../wire/sliced/late-bytes.js";
import { nextSlice } from "../../wire/slices.js";
import type { RelayLimits } from "../call-services.js";
import { type BodyIterator, iteratorOf, leaveBody } from "./body-iterator.js";
import { EventRelay } from "./event-relay.js";
import { requireFewMembersOf } from "./few-members.js";
import { JsonDocument } from "./json-document.js";
import type { OutputFlow } from "./output-flow.js";
import { RestartableTimer } from "./restartable-timer.js";

/** Spare bytes of the buffer, since rewritten events may be longer. */
const spareBytes = 256;

/** Longer events are sent in parts of this many bytes, so that a slow client's progress can be seen. */
export const mostAtOnce = 128 * 1024;

/** Receives a stream's chunks. Each call of `ask` leads to one call of one method. */
export interface ChunkListener {
  /** What the client gets for one read of the upstream's body. */
  onChunks(chunks: Uint8Array): void;
  /** Nothing arrived for so long that the client needs a keep-alive. */
  onSilence(): void;
  /** The upstream has sent everything. */
  onEnd(): void;
  /** @param error - StreamFault | EventTooLargeError | GatewayError | what the body threw */
  onFault(error: unknown): void;
}

/** What a stream is made of. */
export interface StreamSource {
  /** The upstream's body. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly codec: StreamCodec;
  readonly limits: Pick<RelayLimits, "maxAnswerBytes" | "maxEventBytes" | "keepAliveMs">;
  /** Measures how fast the output comes. */
  readonly flow: OutputFlow;
}

/**
 * Reads an upstream's stream and produces the client's bytes. It ends where the codec says so, or with the upstream's
 * body. It uses callbacks instead of a generator: most chunks are one token, and the steps of a generator would be most
 * of the cost of each.
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
  /** Bytes that arrived before the next `ask`. */
  #ready: Uint8Array | undefined;
  /** What goes out behind them. It is written part by part, one in a turn of the event loop. */
  #late: LateBytes | undefined;
  #isWriting = false;
  /** The error that ends the stream after the ready bytes. */
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

  /** Requests the next chunk. Call it again only after the listener has been called. */
  ask(): void {
    this.#isAsked = true;
    this.#timer.start();
    if (this.#ready !== undefined || this.#late !== undefined || this.#isOver) this.#notify();
    else if (!this.#isReading) this.#read();
  }

  /** Stops reading and ignores what still arrives. The stream ends with this error after the ready bytes. */
  breakOff(error: unknown): void {
    if (this.#isOver) return;
    this.#fault = { error };
    this.#leave();
    this.#notify();
  }

  /** Stops everything: `ask` is not called again. */
  stop(): void {
    this.#timer.stop();
    this.#isAsked = false;
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
      // The body of a host's own provider may yield anything.
      if (result.done === true) hasEnded = true;
      else this.#take(result.value);
    } catch (error) {
      this.#fault = { error };
      this.#leave();
    }
    if (hasEnded) this.#end();
    else if (this.#ready !== undefined || this.#late !== undefined || this.#isOver) this.#notify();
    else this.#read();
  };

  readonly #failed = (error: unknown): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    noteRefusal(error);
    // Everything requested has arrived, so the way in which the connection ended does not matter.
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
      this.#flow.came(this.#codec.progress);
      // The client gets what arrived before a fault.
      this.#keep(out);
    }
    if (this.#codec.progress.isDone) this.#leave();
  }

  #keep(out: ByteWriter): void {
    const early = this.#relay.takeEarly();
    if (early === undefined) {
      if (out.length > 0) this.#ready = out.finish();
      return;
    }
    if (out.length > 0) early.push(out.finish());
    this.#hold(joinOutgoing(early));
  }

  #hold(outgoing: Outgoing | undefined): void {
    if (outgoing instanceof LateBytes) this.#late = outgoing;
    else this.#ready = outgoing;
  }

  /** The body has ended. */
  #end(): void {
    this.#isOver = true;
    try {
      if (this.#fault === undefined) this.#rest();
    } catch (error) {
      this.#fault = { error };
    }
    this.#notify();
  }

  /** Bytes that can be written only once the body is complete. */
  #rest(): void {
    if (this.#document.length > 0) {
      const { bytes } = this.#document;
      requireFewMembersOf(bytes);
      this.#hold(this.#codec.whole(bytes));
      return;
    }
    const out = new ByteWriter(spareBytes);
    this.#relay.end(out);
    this.#keep(out);
  }

  /** Stops reading the body. */
  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    leaveBody(this.#body);
  }

  #notify(): void {
    if (!this.#isAsked) return;
    if (this.#ready === undefined && this.#late !== undefined) {
      this.#write(this.#late);
      return;
    }
    this.#isAsked = false;
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready !== undefined) this.#notifyChunks(ready);
    else if (this.#fault !== undefined) this.#listener.onFault(this.#fault.error);
    else this.#listener.onEnd();
  }

  #write(late: LateBytes): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    void nextSlice().then(() => {
      this.#isWriting = false;
      this.#ready = late.next();
      if (this.#ready === undefined) this.#late = undefined;
      // Behind the last part the upstream is read on, unless it has ended.
      if (this.#ready !== undefined || this.#isOver) this.#notify();
      else if (this.#isAsked && !this.#isReading) this.#read();
    });
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
