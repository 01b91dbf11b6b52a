import { Buffer } from "node:buffer";
import type { RequestBytes } from "../direct-call.js";
import { type AbortNotice, UpstreamError, type UpstreamResponse } from "../upstream-provider.js";
import { IdleTimeout, type IdleTimeoutListener } from "./idle-timeout.js";
import { leftoverBytes, leftoverMs, type Transport, type TransportOptions } from "./transport.js";
import { toFetchError } from "./transport-error.js";

/**
 * The transport for every runtime that has `fetch`; the runtime manages the connections.
 *
 * `fetch` does not tell over which connection a request went, nor whether that one was kept after an earlier response.
 * Its error is the same TypeError for a new connection that was reset. So nothing is repeated here: what a kept connection
 * loses is up to the runtime, some of which send such requests once more by themselves, and else to the attempts of the
 * model.
 */
export function createFetchTransport(options: TransportOptions): Transport {
  return {
    async send({ path, headers, body, signal, handover }) {
      if (signal.aborted) throw new UpstreamError("aborted", "The call was aborted.", { cause: signal.reason });
      const call = new FetchCall(signal, options);
      // Called without a receiver, as browsers and workers insist on.
      const fetch = options.fetch ?? globalThis.fetch;
      handover?.handedOver();
      return call.open((abortSignal) =>
        // Not followed: a redirect could carry the body to a foreign host, or turn the POST into a GET.
        fetch(options.origin + path, {
          method: "POST",
          headers: { ...headers },
          body: toFetchBody(body),
          signal: abortSignal,
          redirect: "manual",
        }),
      );
    },
    async close() {},
  };
}

/** Rejects the promise that is pending right now. */
type Reject = (error: UpstreamError) => void;
type Result = IteratorResult<Uint8Array, undefined>;

const finished: Result = { done: true, value: undefined };

/** One call over `fetch`, from the request to the end of the body, which it is itself the iteration of. */
class FetchCall implements AsyncIterableIterator<Uint8Array, undefined>, IdleTimeoutListener {
  readonly #signal: AbortNotice;
  readonly #timeouts: TransportOptions;
  readonly #controller = new AbortController();
  readonly #timer = new IdleTimeout(this);
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #waiting: { resolve?: (result: Result) => void; reject: Reject } | undefined;
  #isOver = false;
  #isLeft = false;
  /** The error that the reader of the body has yet to get. */
  #error: UpstreamError | undefined;

  constructor(signal: AbortNotice, timeouts: TransportOptions) {
    this.#signal = signal;
    this.#timeouts = timeouts;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The signal's listener. */
  handleEvent(): void {
    this.#fail(new UpstreamError("aborted", "The call was aborted.", { cause: this.#signal.reason }));
  }

  open(fetchResponse: (signal: AbortSignal) => Promise<Response>): Promise<UpstreamResponse> {
    return new Promise((resolve, reject) => {
      this.#waiting = { reject };
      this.#timer.start(this.#timeouts.firstByteTimeoutMs);
      this.#signal.addEventListener("abort", this);
      fetchResponse(this.#controller.signal).then(
        (response) => {
          if (this.#isOver) {
            // A runtime that does not mind the signal.
            response.body?.cancel().catch(() => {});
            return;
          }
          this.#waiting = undefined;
          this.#timer.pause();
          this.#reader = response.body?.getReader();
          if (!this.#reader) this.#finish();
          resolve({ status: toStatus(response), headers: toHeaders(response), body: this });
        },
        (error: unknown) => this.#fail(toFetchError(error, "unreachable")),
      );
    });
  }

  next(): Promise<Result> {
    if (this.#waiting)
      return Promise.reject(new TypeError("The body is being read already: wait for the last next()."));
    const reader = this.#reader;
    if (this.#isOver || this.#isLeft || !reader) {
      const error = this.#error;
      // An iteration reports its failure once, and is over then.
      this.#error = undefined;
      return error ? Promise.reject(error) : Promise.resolve(finished);
    }
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#timer.start(this.#timeouts.idleTimeoutMs);
      this.#read(reader, resolve);
    });
  }

  async return(): Promise<Result> {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve?.(finished);
    this.#error = undefined;
    const wasLeft = this.#isLeft;
    this.#isLeft = true;
    if (!this.#isOver && !wasLeft && this.#reader) void this.#readLeftover(this.#reader);
    return finished;
  }

  #read(reader: ReadableStreamDefaultReader<Uint8Array>, resolve: (result: Result) => void): void {
    reader.read().then(
      ({ done, value }) => {
        // Left or failed meanwhile.
        if (this.#waiting?.resolve !== resolve) return;
        if (!done && value.length === 0) return this.#read(reader, resolve);
        this.#waiting = undefined;
        if (done) this.#finish();
        // Time in which the reader pulls nothing does not count; the timer itself runs on, see IdleTimeout.
        else this.#timer.pause();
        resolve(done ? finished : { done, value });
      },
      (error: unknown) => this.#fail(toFetchError(error, "interrupted")),
    );
  }

  /** Reads what is left, within limits, so that the connection can be used again. */
  async #readLeftover(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    this.#timer.start(leftoverMs);
    let leftover = 0;
    try {
      while (!this.#isOver && leftover <= leftoverBytes) {
        const { done, value } = await reader.read();
        if (done) return void this.#finish();
        leftover += value.length;
      }
    } catch {
      // Broken off: just as well.
    }
    this.#fail(new UpstreamError("aborted", "The response was not read to its end."));
  }

  /** The timer's listener. */
  onIdleTimeout(): void {
    const { firstByteTimeoutMs, idleTimeoutMs } = this.#timeouts;
    this.#fail(
      new UpstreamError(
        "timeout",
        this.#reader
          ? `The upstream was silent for ${idleTimeoutMs} ms in the middle of its answer.`
          : `The upstream did not begin to answer within ${firstByteTimeoutMs} ms.`,
      ),
    );
  }

  #fail(error: UpstreamError): void {
    if (!this.#finish()) return;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.reject(error);
    else this.#error = error;
    this.#controller.abort(error);
  }

  /** True for the first that ends the call. */
  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#timer.stop();
    this.#signal.removeEventListener("abort", this);
    return true;
  }
}

/** A browser hides the status of a redirect that it does not follow. */
function toStatus(response: Response): number {
  return response.type === "opaqueredirect" ? 302 : response.status;
}

function toHeaders(response: Response): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of response.headers) headers[name] = value;
  if ("content-encoding" in headers) {
    // The body has been decoded already.
    delete headers["content-encoding"];
    delete headers["content-length"];
  }
  return headers;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** What workerd has beside the standard: a stream that is sent with its length. */
interface LengthStreams {
  readonly FixedLengthStream?: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
}

/**
 * A body as `fetch` takes it. One in pieces is joined, as every other stream is sent in chunks, which not all servers take.
 * On workerd, whose memory is small, it is sent as it is.
 */
export function toFetchBody(body: RequestBytes): Bytes | ReadableStream<Uint8Array> {
  if (body instanceof Uint8Array) return withoutSharing(body);
  const { FixedLengthStream } = globalThis as LengthStreams;
  if (FixedLengthStream === undefined) return withoutSharing(Buffer.concat(body));
  const stream = new FixedLengthStream(body.reduce((sum, piece) => sum + piece.length, 0));
  // What breaks it off is seen by `fetch`.
  writeAll(stream.writable.getWriter(), body).catch(() => {});
  return stream.readable;
}

async function writeAll(writer: WritableStreamDefaultWriter<Uint8Array>, pieces: readonly Uint8Array[]): Promise<void> {
  for (const piece of pieces) await writer.write(piece);
  await writer.close();
}

/** The type of fetch refuses bytes on shared memory. */
function withoutSharing(bytes: Uint8Array): Bytes {
  return bytes.buffer instanceof ArrayBuffer
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
}
