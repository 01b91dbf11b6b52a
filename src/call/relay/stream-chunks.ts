import { noteRefusal } from "../../errors/refusal.js";
import type { StreamCodec } from "../../protocols/shared/stream-codec.js";
import { isUpstreamError } from "../../providers/upstream-provider.js";
import type { KeyMask } from "../../redaction/key-mask.js";
import { runtime } from "../../runtime/this-runtime.js";
import { ByteWriter } from "../../wire/bytes.js";
import { type PieceReader, type PieceSource, pieceSourceOf, readPiece } from "../../wire/piece-source.js";
import { joinOutgoing, LateBytes, nextSlice, type Outgoing } from "../../wire/slices.js";
import type { RelayLimits } from "../call-services.js";
import { EventRelay } from "./event-relay.js";
import { requireFewMembersOf } from "./few-members.js";
import { JsonDocument } from "./json-document.js";
import type { OutputFlow } from "./output-flow.js";
import { RestartableTimer } from "./restartable-timer.js";

/** Spare bytes of the buffer, since rewritten events may be longer. */
const spareBytes = 256;

/** So many bytes go out without waiting for more of the same tick, and the buffer that they are gathered in. */
const mostGathered = 15 * 1024;
const gatherBytes = 16 * 1024;

/** Longer events are sent in parts of this many bytes, so that a slow client's progress can be seen. */
export const mostAtOnce = 128 * 1024;

/** Gets a stream's chunks. Each call of `ask` leads to one call of one method. */
export interface ChunkReader extends PieceReader {
  /** Nothing arrived for so long that the client needs a keep-alive. */
  silent(): void;
}

/** What a stream is made of. */
export interface StreamSource {
  /** The upstream's body. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly codec: StreamCodec;
  readonly limits: Pick<RelayLimits, "maxResponseBytes" | "maxEventBytes" | "keepAliveMs">;
  /** Measures how fast the output comes. */
  readonly flow: OutputFlow;
  /** For what the server says beside the model's words. */
  readonly mask?: KeyMask | undefined;
}

/**
 * Reads an upstream's stream and produces the client's bytes. It ends where the codec says so, or with the upstream's
 * body. It uses callbacks instead of a generator: most chunks are one token, and the steps of a generator would be most
 * of the cost of each.
 */
export class StreamChunks implements PieceReader {
  readonly #source: PieceSource;
  readonly #codec: StreamCodec;
  readonly #relay: EventRelay;
  readonly #document: JsonDocument;
  readonly #timer: RestartableTimer;
  #isEvents = false;
  #isReading = false;
  #isOver = false;
  #isAsked = false;
  /** What goes out next, as far as it has come. */
  #out: ByteWriter | undefined;
  /** How much went out last. */
  #lastLength = 0;
  #isGathering = false;
  /** What goes out before that: the rest of a large one. */
  #ready: Uint8Array | undefined;
  /** What goes out behind them. It is written part by part, one in a turn of the event loop. */
  #late: LateBytes | undefined;
  #isWriting = false;
  /** The error that ends the stream after the ready bytes. */
  #fault: { error: unknown } | undefined;
  readonly #reader: ChunkReader;
  readonly #flow: OutputFlow;
  readonly #mask: KeyMask | undefined;

  constructor({ body, codec, limits, flow, mask }: StreamSource, reader: ChunkReader) {
    this.#source = pieceSourceOf(body);
    this.#codec = codec;
    const maxEventBytes = Math.max(codec.maxEventBytes ?? 0, limits.maxEventBytes);
    this.#relay = new EventRelay(codec, { maxEventBytes, mask });
    this.#mask = mask;
    this.#document = new JsonDocument({ ...limits, maxEventBytes });
    this.#reader = reader;
    this.#flow = flow;
    this.#timer = new RestartableTimer(limits.keepAliveMs, () => this.#notifySilence());
  }

  /** Requests the next chunk. Call it again only after the reader has been called. */
  ask(): void {
    this.#isAsked = true;
    this.#timer.start();
    this.#go();
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

  /** Gives the reader what there is for it, or reads on. */
  #go(): void {
    if (this.#hasNews) this.#notify();
    else if (!this.#isReading) this.#read();
  }

  get #hasNews(): boolean {
    return this.#out !== undefined || this.#ready !== undefined || this.#late !== undefined || this.#isOver;
  }

  #read(): void {
    this.#isReading = true;
    this.#flow.asked();
    try {
      this.#source[readPiece](this);
    } catch (error) {
      // A host's own provider may read its body, too.
      this.breakOff(error);
    }
  }

  took(bytes: Uint8Array): void {
    this.#isReading = false;
    if (this.#isOver) return;
    try {
      this.#take(bytes);
    } catch (error) {
      this.#fault = { error };
      this.#leave();
    }
    if (this.#mayGather) this.#gather();
    else this.#go();
  }

  ended(): void {
    this.#isReading = false;
    if (!this.#isOver) this.#end();
  }

  failed(error: unknown): void {
    this.#isReading = false;
    if (this.#isOver) return;
    noteRefusal(error);
    // Everything requested has arrived, so the way in which the connection ended does not matter.
    const isEnough = this.#codec.progress.isComplete && isUpstreamError(error) && error.failure !== "aborted";
    if (!isEnough) this.#fault = { error };
    this.#end();
  }

  /** Whether more of the same tick may follow, to go out together. The first piece of a stream waits for nothing. */
  get #mayGather(): boolean {
    const isOpen = this.#isAsked && !this.#isOver && this.#late === undefined;
    return isOpen && !this.#source.isByTick && this.#lastLength > 0 && (this.#out?.length ?? 0) < mostGathered;
  }

  #gather(): void {
    if (this.#out !== undefined && !this.#isGathering) {
      this.#isGathering = true;
      runtime.nextTick(giveGathered, this);
    }
    this.#read();
  }

  /** The tick is over. */
  giveGathered(): void {
    this.#isGathering = false;
    if (this.#hasNews) this.#notify();
  }

  #take(bytes: Uint8Array): void {
    if (!this.#isEvents && this.#document.take(bytes)) return;
    this.#isEvents = true;
    this.#out ??= this.#createOut(bytes.length + spareBytes);
    try {
      this.#relay.read(bytes, this.#out);
    } finally {
      this.#flow.came(this.#codec.progress);
      // The client gets what arrived before a fault.
      this.#keep();
    }
    if (this.#codec.progress.isDone) this.#leave();
  }

  #createOut(size: number): ByteWriter {
    if (this.#source.isByTick) return new ByteWriter(size);
    const isBurst = this.#lastLength >= mostGathered;
    return new ByteWriter(isBurst ? gatherBytes : size, gatherBytes);
  }

  /** Keeps what was written for the client. */
  #keep(): void {
    const early = this.#relay.takeEarly();
    if (this.#out?.length === 0) this.#out = undefined;
    if (early === undefined) return;
    const last = this.#takeOut();
    if (last !== undefined) early.push(last);
    this.#hold(joinOutgoing(early));
  }

  #takeOut(): Uint8Array | undefined {
    const out = this.#out?.finish();
    this.#out = undefined;
    return out;
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
      this.#hold(this.#codec.whole(this.#mask?.hide(bytes) ?? bytes));
      return;
    }
    this.#out ??= new ByteWriter(spareBytes);
    try {
      this.#relay.end(this.#out);
    } finally {
      this.#keep();
    }
  }

  /** Stops reading the body. */
  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#source.leave();
  }

  #notify(): void {
    if (!this.#isAsked) return;
    const ready = this.#takeReady();
    if (ready === undefined && this.#late !== undefined) {
      this.#write(this.#late);
      return;
    }
    this.#isAsked = false;
    if (ready !== undefined) this.#notifyChunks(ready);
    else if (this.#fault !== undefined) this.#reader.failed(this.#fault.error);
    else this.#reader.ended();
  }

  #takeReady(): Uint8Array | undefined {
    const ready = this.#ready ?? this.#takeOut();
    this.#ready = undefined;
    return ready;
  }

  #write(late: LateBytes): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    void nextSlice().then(() => {
      this.#isWriting = false;
      this.#ready = late.next();
      if (this.#ready === undefined) this.#late = undefined;
      // Behind the last part the upstream is read on, unless it has ended.
      if (this.#isAsked) this.#go();
    });
  }

  #notifyChunks(ready: Uint8Array): void {
    this.#lastLength = ready.length;
    if (ready.length > mostAtOnce) this.#ready = ready.subarray(mostAtOnce);
    this.#reader.took(this.#ready === undefined ? ready : ready.subarray(0, mostAtOnce));
  }

  #notifySilence(): void {
    if (!this.#isAsked) return;
    this.#isAsked = false;
    this.#reader.silent();
  }
}

function giveGathered(chunks: StreamChunks): void {
  chunks.giveGathered();
}
