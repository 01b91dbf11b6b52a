import { ByteWriter } from "../openai/byte-writer.js";
import { ChatEventRelay } from "../openai/chat-event-relay.js";
import type { ChatStream } from "../openai/chat-stream.js";
import { isUpstreamError } from "../providers/upstream-provider.js";
import { IdleTimer } from "./idle-timer.js";
import type { RelayOptions } from "./pipeline.js";
import { UpstreamDocument } from "./upstream-document.js";

/** Nothing came for so long that the client needs a sign of life. */
export const overdue = Symbol("overdue");

/** What events may grow by as they are rewritten, before the buffer has to. */
const spareBytes = 256;

type Chunks = Uint8Array | typeof overdue | undefined;

/**
 * Reads an upstream's stream, and gives what the client gets for it, the events of one read together. It ends at `[DONE]`
 * or with the upstream's body. Written with promises, and not as a generator, since a token often comes alone: then what
 * it costs to hand it on is most of what it costs at all.
 */
export class StreamChunks {
  readonly #source: AsyncIterable<Uint8Array>;
  #body: AsyncIterator<Uint8Array> | undefined;
  readonly #stream: ChatStream;
  readonly #relay: ChatEventRelay;
  readonly #document: UpstreamDocument;
  readonly #timer: IdleTimer;
  #isEvents = false;
  #isReading = false;
  #isOver = false;
  /** What has come while nobody waited. */
  #ready: Chunks;
  /** Breaks the stream off behind what is ready. */
  #fault: { error: unknown } | undefined;
  #resolve: ((chunks: Chunks) => void) | undefined;
  #reject: ((error: unknown) => void) | undefined;

  /** @param body - the upstream's. */
  constructor(body: AsyncIterable<Uint8Array>, stream: ChatStream, options: RelayOptions) {
    this.#source = body;
    this.#stream = stream;
    this.#relay = new ChatEventRelay(stream, options);
    this.#document = new UpstreamDocument(options.maxAnswerBytes);
    this.#timer = new IdleTimer(options.keepAliveMs, () => this.#give(overdue));
  }

  /**
   * The next events, `undefined` at the end, or {@link overdue}; then the events can be waited for again. To be called
   * when the last promise has resolved.
   *
   * @throws StreamFault | EventTooLargeError | GatewayError | what the body throws
   */
  next(): Promise<Chunks> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#timer.start();
      if (this.#ready !== undefined || this.#isOver) this.#deliver();
      else if (!this.#isReading) this.#read();
    });
  }

  /** Nobody asks any more. Not waited for: a provider that does not heed its signal must not keep the client. */
  stop(): void {
    this.#timer.stop();
    this.#leave();
  }

  #read(): void {
    this.#isReading = true;
    try {
      this.#body ??= this.#source[Symbol.asyncIterator]();
      Promise.resolve(this.#body.next()).then(this.#took, this.#failed);
    } catch (error) {
      this.#failed(error);
    }
  }

  readonly #took = ({ done, value }: IteratorResult<Uint8Array, unknown>): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    if (done) {
      this.#end();
      return;
    }
    try {
      this.#take(value);
    } catch (error) {
      this.#fault = { error };
      this.#leave();
    }
    if (this.#ready !== undefined || this.#isOver) this.#deliver();
    else this.#read();
  };

  readonly #failed = (error: unknown): void => {
    this.#isReading = false;
    if (this.#isOver) return;
    // All that was asked for has arrived: how the connection ends does not matter any more.
    const isEnough = this.#stream.complete && isUpstreamError(error) && error.failure !== "aborted";
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
      // What came before a fault is the client's.
      if (out.length > 0) this.#ready = out.finish();
    }
    if (this.#stream.done) this.#leave();
  }

  /** The body is over. */
  #end(): void {
    this.#isOver = true;
    try {
      if (this.#fault === undefined) this.#ready = this.#rest();
    } catch (error) {
      this.#fault = { error };
    }
    this.#deliver();
  }

  /** What can be told to be complete only now. */
  #rest(): Uint8Array | undefined {
    if (this.#document.length > 0) return this.#stream.push(this.#document.toChunk());
    const out = new ByteWriter(spareBytes);
    this.#relay.end(out);
    return out.length > 0 ? out.finish() : undefined;
  }

  /** The rest of the body is nobody's. */
  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    try {
      Promise.resolve(this.#body?.return?.()).catch(() => {});
    } catch {}
  }

  #deliver(): void {
    if (this.#resolve === undefined) return;
    const ready = this.#ready;
    this.#ready = undefined;
    if (ready !== undefined || this.#fault === undefined) this.#give(ready);
    else this.#fail(this.#fault.error);
  }

  #give(chunks: Chunks): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    this.#reject = undefined;
    resolve?.(chunks);
  }

  #fail(error: unknown): void {
    const reject = this.#reject;
    this.#resolve = undefined;
    this.#reject = undefined;
    reject?.(error);
  }
}
