import type { Buffer } from "node:buffer";
import type { Dispatcher } from "undici";
import type { DirectResponse, HandoverListener } from "../direct-call.js";
import { type AbortNotice, UpstreamError } from "../upstream-provider.js";
import type { IdleTimeout, IdleTimeoutListener, IdleTimeoutPool } from "./idle-timeout.js";
import { leftoverBytes, leftoverMs, type TransportOptions } from "./transport.js";
import { isLostConnection, toUpstreamError } from "./transport-error.js";
import { type BodySource, decodedResponse, ReceivedBody, UndiciResponse } from "./undici-response.js";
import type { UndiciSocket } from "./undici-socket.js";

/** What is called when the request goes out, and when the status and headers are there or will never be. */
interface AnswerCallbacks {
  resolve(answer: DirectResponse): void;
  reject(error: UpstreamError): void;
  handover?: HandoverListener | undefined;
}

/** Dispatch options that name the call they belong to, and the body where it is in pieces. */
export interface UndiciCallOptions extends Dispatcher.DispatchOptions {
  call?: UndiciCall;
  pieces?: SentPieces;
}

/** A connection of the pool, as a call sees it. */
export interface CallConnection {
  readonly line: UndiciSocket;
  /** It takes no more requests. */
  readonly closed: boolean;
  /** Sends a request; on a new connection, if the last one was lost. */
  dispatch(options: UndiciCallOptions, handler: Dispatcher.DispatchHandler): boolean;
}

/**
 * One call over undici, from dispatch to the end of the body. The first of end, error, timeout, abort and discard ends
 * it; everything after that is ignored.
 *
 * A request whose connection was kept after an earlier response, and is lost before a byte of its own, is sent once more
 * on a new one, see docs/decisions/0008-kept-connections.md.
 *
 * The methods `on…` are those of undici's older handler: the newer one is wrapped around it, and parses the headers of
 * every response, though hardly any is read. package.json pins the exact version.
 */
export class UndiciCall implements Dispatcher.DispatchHandler, BodySource, IdleTimeoutListener {
  /** Both set when a connection was chosen. */
  #connection: CallConnection | undefined;
  #request: UndiciCallOptions | undefined;
  readonly #signal: AbortNotice;
  /** Dropped when there is a response: the callbacks hold it, and with it all of its headers. */
  #answer: AnswerCallbacks | undefined;
  readonly #timeouts: TransportOptions;
  readonly #timers: IdleTimeoutPool;
  /** Another call's when this one is over. */
  readonly #timer: IdleTimeout;
  /** Whether the request may be sent once more, as things are; "spent" when it was. */
  #repetition: "refused" | "allowed" | "spent" = "refused";
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

  /** A connection was chosen for it. */
  goOver(connection: CallConnection, request: UndiciCallOptions): void {
    this.#connection = connection;
    this.#request = request;
  }

  /** The signal's listener. */
  handleEvent(): void {
    this.#cancel(new UpstreamError("aborted", "The call was aborted.", { cause: this.#signal.reason }));
  }

  onConnect(abort: (error?: Error) => void): void {
    // Thrown here, before anything is written, it takes the request back and leaves the connection as good as it was.
    if (this.#state === "over") throw new UpstreamError("aborted", "The call ended before it was sent.");
    this.#abort = abort;
    const line = this.#connection?.line;
    line?.ref();
    if (this.#repetition === "spent") return;
    this.#answer?.handover?.handedOver();
    if (line?.isKept !== true) return;
    this.#repetition = "allowed";
    if (this.#request?.pieces) this.#request.pieces.mayBeRepeated = true;
  }

  /** The first byte of a response, of an early one of 1xx as well. */
  onResponseStarted(): void {
    this.#dropRequest();
  }

  /** @returns true, always: `false` would pause the connection by undici's own means, see {@link UndiciSocket}. */
  onHeaders(status: number, headers: Buffer[]): boolean {
    if (status < 200 || this.#state !== "waiting") return true;
    const body = new ReceivedBody(this);
    const received = new UndiciResponse(status, headers, body);
    const encoding = encodingIn(headers);
    const answer = encoding === undefined ? received : decodedResponse(received, encoding);
    // The status of an error says enough without its body.
    if (answer === undefined && status === 200) {
      this.#cancel(compressed(encoding ?? ""));
      return true;
    }
    this.#state = "reading";
    this.#timer.start(this.#timeouts.idleTimeoutMs);
    this.#body = body;
    this.#answer?.resolve(answer ?? received);
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
    if (this.#connection) this.#connection.line.isKept = true;
    if (this.#finish()) this.#body?.end();
  }

  onError(error: Error): void {
    if (this.#repetition === "allowed" && isLostConnection(error) && this.#sendAgain()) return;
    const connected = this.#abort !== undefined;
    if (this.#finish()) this.#fail(toUpstreamError(error, connected));
  }

  resume(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#timer.start(this.#timeouts.idleTimeoutMs);
    this.#connection?.line.unhold();
  }

  release(): void {
    if (this.#state !== "reading") return;
    this.#state = "discarding";
    this.#timer.pause();
    this.#leftoverTimer = setTimeout(discardCall, leftoverMs, this).unref();
    this.#connection?.line.unref();
    if (this.#held) {
      this.#held = false;
      this.#connection?.line.unhold();
    }
  }

  /** The leftover read has ended before the response did. */
  discard(): void {
    this.#cancel(new UpstreamError("aborted", "The response was not read to its end."));
  }

  /**
   * Over the same connection of undici's, which has no socket any more and no other request: it opens a new one. The time
   * limits run on.
   * @returns false where the pool was closed meanwhile.
   */
  #sendAgain(): boolean {
    const [connection, request] = [this.#connection, this.#request];
    if (connection === undefined || request === undefined || connection.closed) return false;
    this.#repetition = "spent";
    this.#abort = undefined;
    if (request.pieces) request.pieces.mayBeRepeated = false;
    connection.dispatch(request, this);
    return true;
  }

  /** It is not sent again. */
  #dropRequest(): void {
    if (this.#repetition === "allowed") this.#repetition = "refused";
    this.#request?.pieces?.letGo();
    this.#request = undefined;
  }

  #hold(): void {
    if (this.#held) return;
    this.#held = true;
    this.#timer.pause();
    this.#connection?.line.hold();
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
    else this.#connection?.line.cancelConnecting(error);
  }

  /** True for the first that ends the call. */
  #finish(): boolean {
    if (this.#state === "over") return false;
    this.#state = "over";
    this.#dropRequest();
    this.#timers.giveBack(this.#timer);
    clearTimeout(this.#leftoverTimer);
    this.#signal.removeEventListener("abort", this);
    if (this.#held) this.#connection?.line.settle();
    this.#held = false;
    return true;
  }
}

function discardCall(call: UndiciCall): void {
  call.discard();
}

const encodingName = "content-encoding";

/** How the body is compressed, although the request asks that it is not; `undefined`: it is not. */
function encodingIn(headers: readonly Buffer[]): string | undefined {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] as Buffer;
    if (name.length !== encodingName.length || name.toString("latin1").toLowerCase() !== encodingName) continue;
    const encoding = String(headers[index + 1])
      .trim()
      .toLowerCase();
    return encoding === "" || encoding === "identity" ? undefined : encoding;
  }
  return undefined;
}

/** RFC 9110, section 8.4.1, and those that came later. */
const encodings: ReadonlySet<string> = new Set([
  "aws-chunked",
  "gzip",
  "x-gzip",
  "deflate",
  "compress",
  "x-compress",
  "br",
  "zstd",
  "dcb",
  "dcz",
]);

function compressed(encoding: string): UpstreamError {
  // A server may put anything there.
  const known = encoding.split(",").every((each) => encodings.has(each.trim())) ? ` ("${encoding.slice(0, 40)}")` : "";
  const problem = `The upstream compressed its answer${known}, which nothing here decodes.`;
  return new UpstreamError("interrupted", `${problem} Turn that off in the server, or in the proxy before it.`);
}

/**
 * The pieces of a request's body. It lets go of them when they are sent, as undici keeps a request until its response has
 * ended; or, where they may have to be sent once more, when it is told to.
 */
export class SentPieces implements Iterable<Uint8Array> {
  #pieces: readonly Uint8Array[];
  /** Whether they stay until {@link letGo}. */
  mayBeRepeated = false;

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces;
  }

  [Symbol.iterator](): Iterator<Uint8Array> {
    const pieces = this.#pieces;
    if (!this.mayBeRepeated) this.letGo();
    // An iterator of an array lets go of it at its end.
    return pieces[Symbol.iterator]();
  }

  letGo(): void {
    this.#pieces = [];
  }
}
