import type { Socket } from "node:net";
import type { buildConnector } from "undici";
import { UpstreamError } from "../upstream-provider.js";

/** The socket of one connection, and its successors when it is opened again. */
export class UndiciSocket {
  readonly #connect: buildConnector.connector;
  readonly #connectTimeoutMs: number;
  #socket: Socket | undefined;
  #cancelConnecting: ((error: UpstreamError) => void) | undefined;
  #held = false;
  #isUnref = false;
  /** Whether the connection has brought a response, and was kept after it. */
  isKept = false;

  constructor(connect: buildConnector.connector, connectTimeoutMs: number) {
    this.#connect = connect;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** What undici opens the connection with. Its own timer for this is only good to half a second. */
  readonly connect: buildConnector.connector = (options, callback) => {
    const timer = setTimeout(() => {
      this.cancelConnecting(
        new UpstreamError("timeout", `No connection to the upstream within ${this.#connectTimeoutMs} ms.`),
      );
    }, this.#connectTimeoutMs);
    const opened: buildConnector.Callback = (...outcome) => {
      clearTimeout(timer);
      this.#cancelConnecting = undefined;
      if (outcome[1]) this.#use(outcome[1]);
      callback(...outcome);
    };
    // The connector returns the socket, which its type does not show.
    const socket: unknown = this.#connect(options, opened);
    this.#cancelConnecting = isDestroyable(socket) ? (error) => socket.destroy(error) : undefined;
  };

  /** Gives up if the connection is not there yet. */
  cancelConnecting(error: UpstreamError): void {
    this.#cancelConnecting?.(error);
  }

  /** Nothing more is read from the socket, so that the upstream has to wait once the buffers on the way are full. */
  hold(): void {
    this.#held = true;
  }

  /** No call waits for its response any more: it does not keep the process alive. */
  unref(): void {
    this.#isUnref = true;
    this.#socket?.unref();
  }

  /** It has another request. Undici does not call `ref` itself where it had that request already. */
  ref(): void {
    if (!this.#isUnref) return;
    this.#isUnref = false;
    this.#socket?.ref();
  }

  /** Ends a hold. What has arrived meanwhile is read at once. */
  unhold(): void {
    this.#held = false;
    this.#socket?.emit("readable");
  }

  /** Ends a hold on a connection whose response is over: there is nothing to read. */
  settle(): void {
    this.#held = false;
  }

  #use(socket: Socket): void {
    this.#socket = socket;
    this.#held = false;
    this.#isUnref = false;
    this.isKept = false;
    // Not undici's own pause(): in 7.30 an assertion in its parser crashes the process when the connection ends while
    // paused, and a complete response can become an error. A read without a size is undici's; those with one are
    // Node's.
    const read = socket.read;
    socket.read = (size?: number) => (this.#held && size === undefined ? null : read.call(socket, size));
  }
}

function isDestroyable(socket: unknown): socket is Socket {
  return typeof socket === "object" && socket !== null && "destroy" in socket;
}
