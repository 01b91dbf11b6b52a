import type { Buffer } from "node:buffer";
import type { Dispatcher } from "undici";
import type { HandoverListener } from "../direct-call.js";
import { type AbortNotice, UpstreamError } from "../upstream-provider.js";
import type { IdleTimeout, IdleTimeoutListener } from "./idle-timeout.js";
import type { IdleTimeoutPool } from "./idle-timeout-pool.js";
import { leftoverBytes, leftoverMs } from "./leftover-read.js";
import { type BodySource, ReceivedBody } from "./received-body.js";
import type { TransportOptions } from "./transport.js";
import { UndiciAnswer } from "./undici-answer.js";
import { toUpstreamError } from "./undici-error.js";
import type { UndiciSocket } from "./undici-socket.js";

/** What is called when the request goes out, and when the status and headers are there or will never be. */
export interface AnswerCallbacks {
  resolve(answer: UndiciAnswer): void;
  reject(error: UpstreamError): void;
  handover?: HandoverListener | undefined;
}

/**
 * One call over undici, from dispatch to the end of the body. The first of end, error, timeout, abort and discard ends
 * it; everything after that is ignored.
 *
 * The methods `on…` are those of undici's older handler: the newer one is wrapped around it, and parses the headers of
 * every response, though hardly any is read. package.json pins the exact version.
 */
export class UndiciCall implements Dispatcher.DispatchHandler, BodySource, IdleTimeoutListener {
  /** Set when a connection was chosen. */
  line: UndiciSocket | undefined;
  readonly #signal: AbortNotice;
  /** Dropped when there is a response: the callbacks hold it, and with it all of its headers. */
  #answer: AnswerCallbacks | undefined;
  readonly #timeouts: TransportOptions;
  readonly #timers: IdleTimeoutPool;
  /** Another call's when this one is over. */
  readonly #timer: IdleTimeout;
  #state: "waiting" | "reading" | "discarding" | "over" = "waiting";
  /** Closes the connection; there when the request is about to be written. */
  #abort: ((error: Error) => void) | undefined;
  #body: ReceivedBody | undefined;
  #held = false;
  #leftover = 0;
  #leftoverTimer: NodeJS.Timeout | undefined;

  constructor(signal: AbortNotice, timeouts: TransportOptions, timers: IdleTimeoutPool, answer: AnswerCallbacks) {
    this.#signal = signal;
    this.#timeouts = timeouts;
    this.#answer = answer;
    this.#timers = timers;
    this.#timer = timers.take(this);
    this.#timer.start(timeouts.firstByteTimeoutMs);
    signal.addEventListener("abort", this);
  }

  /** The signal's listener. */
  handleEvent(): void {
    this.#cancel(new UpstreamError("aborted", "The call was aborted.", { cause: this.#signal.reason }));
  }

  onConnect(abort: (error?: Error) => void): void {
    // Thrown here, before anything is written, it takes the request back and leaves the connection as good as it was.
    if (this.#state === "over") throw new UpstreamError("aborted", "The call ended before it was sent.");
    this.#abort = abort;
    this.#answer?.handover?.handedOver();
    this.line?.ref();
  }

  /** @returns true, always: `false` would pause the connection by undici's own means, see {@link UndiciSocket}. */
  onHeaders(status: number, headers: Buffer[]): boolean {
    if (status < 200 || this.#state !== "waiting") return true;
    this.#state = "reading";
    this.#timer.start(this.#timeouts.idleTimeoutMs);
    this.#body = new ReceivedBody(this);
    this.#answer?.resolve(new UndiciAnswer(status, headers, this.#body));
    this.#answer = undefined;
    return true;
  }

  onData(chunk: Buffer): boolean {
    const body = this.#body;
    if (this.#state === "reading" && body) {
      // What comes in one tick, as a burst of hundreds of chunks does, is one sign of life: reading the clock is not free.
      if (!body.isDelivering) this.#timer.touch();
      if (!body.push(chunk)) this.#hold();
    } else if (this.#state === "discarding") {
      this.#leftover += chunk.length;
      if (this.#leftover > leftoverBytes) this.discard();
    }
    return true;
  }

  onComplete(): void {
    if (this.#finish()) this.#body?.end();
  }

  onError(error: Error): void {
    const connected = this.#abort !== undefined;
    if (this.#finish()) this.#fail(toUpstreamError(error, connected));
  }

  resume(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#timer.start(this.#timeouts.idleTimeoutMs);
    this.line?.unhold();
  }

  release(): void {
    if (this.#state !== "reading") return;
    this.#state = "discarding";
    this.#timer.pause();
    this.#leftoverTimer = setTimeout(discardCall, leftoverMs, this).unref();
    this.line?.unref();
    if (this.#held) {
      this.#held = false;
      this.line?.unhold();
    }
  }

  /** The leftover read has ended before the response did. */
  discard(): void {
    this.#cancel(new UpstreamError("aborted", "The response was not read to its end."));
  }

  #hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#timer.pause();
    this.line?.hold();
  }

  /** The timer's listener. */
  onIdleTimeout(): void {
    const { firstByteTimeoutMs, idleTimeoutMs } = this.#timeouts;
    const message =
      this.#state === "waiting"
        ? `The upstream did not begin to answer within ${firstByteTimeoutMs} ms.`
        : `The upstream was silent for ${idleTimeoutMs} ms in the middle of its answer.`;
    const error = new UpstreamError("timeout", message);
    if (this.#finish()) {
      this.#fail(error);
      this.#disconnect(error);
    }
  }

  /** Ends the call from our side. */
  #cancel(error: UpstreamError): void {
    if (!this.#finish()) return;
    if (this.#body) this.#body.abort(error);
    else this.#answer?.reject(error);
    this.#disconnect(error);
  }

  #fail(error: UpstreamError): void {
    if (this.#body) this.#body.fail(error);
    else this.#answer?.reject(error);
  }

  #disconnect(error: UpstreamError): void {
    if (this.#abort) this.#abort(error);
    else this.line?.cancelConnecting(error);
  }

  /** True for the first that ends the call. */
  #finish(): boolean {
    if (this.#state === "over") return false;
    this.#state = "over";
    this.#timers.giveBack(this.#timer);
    clearTimeout(this.#leftoverTimer);
    this.#signal.removeEventListener("abort", this);
    if (this.#held) this.line?.settle();
    this.#held = false;
    return true;
  }
}

function discardCall(call: UndiciCall): void {
  call.discard();
}
