import { StallTimer } from "./gateway.js";
import type { WebRequest } from "./web-request.js";

/**
 * What a web-standard stream is read from. It pulls each piece only when the client reads, so that a slow client slows the
 * upstream down. A client that reads nothing for `maxStallMs` is disconnected.
 */
export class WebBodySource {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #request: WebRequest;
  readonly #maxStallMs: number;
  readonly #ended: AbortSignal | undefined;
  #isPulling = false;
  #hasPulled = false;
  #isOver = false;
  #timer: StallTimer | undefined;
  #abort = (): void => {};

  /** @param ended - fails the stream when it is aborted, with its reason. */
  constructor(
    body: AsyncIterable<Uint8Array>,
    request: WebRequest,
    maxStallMs: number,
    ended: AbortSignal | undefined,
  ) {
    this.#pieces = body[Symbol.asyncIterator]();
    this.#request = request;
    this.#maxStallMs = maxStallMs;
    this.#ended = ended;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const ended = this.#ended;
    this.#abort = () => this.#fail(controller, ended?.reason);
    if (ended?.aborted) {
      this.#abort();
      return;
    }
    ended?.addEventListener("abort", this.#abort);
    const isTaking = (): boolean => {
      const isReading = this.#isPulling || this.#hasPulled;
      this.#hasPulled = false;
      return isReading;
    };
    this.#timer = new StallTimer(this.#maxStallMs, isTaking, () => {
      this.#request.giveUp();
      this.#fail(controller, new Error(`The client took nothing of its answer for ${this.#maxStallMs} ms.`));
    });
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#isPulling = true;
    this.#hasPulled = true;
    const { done, value } = await this.#pieces.next().catch((error: unknown) => {
      this.#stop();
      throw error;
    });
    this.#isPulling = false;
    if (this.#isOver) return;
    if (!done) {
      controller.enqueue(value);
      return;
    }
    this.#stop();
    this.#request.settled();
    controller.close();
  }

  async cancel(): Promise<void> {
    this.#stop();
    this.#request.abort();
    this.#request.settled();
    await this.#pieces.return?.();
  }

  #stop(): void {
    this.#isOver = true;
    this.#timer?.stop();
    this.#ended?.removeEventListener("abort", this.#abort);
  }

  #fail(controller: ReadableStreamDefaultController<Uint8Array>, reason: unknown): void {
    this.#stop();
    controller.error(reason);
    this.#pieces.return?.().catch(() => {});
  }
}
