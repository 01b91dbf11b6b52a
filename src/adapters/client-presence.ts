import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** Knows whether the client is still there to take its answer. */
export class ClientPresence {
  #gone: boolean;
  #controller: AbortController | undefined;

  constructor(req: IncomingMessage | Http2ServerRequest, res: ServerResponse | Http2ServerResponse) {
    this.#gone = isClosed(res);
    if (this.#gone) return;
    res.once("close", () => {
      if (!res.writableFinished) this.#leave();
    });
    if (res.socket === null) this.#watchSocket(req, res);
  }

  /** The connection was closed before the answer was complete. */
  get gone(): boolean {
    return this.#gone;
  }

  /** Aborted when the client goes. Made only when it is asked for: a controller costs microseconds. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#gone) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  /** An answer that waits for the one before it on a pipelined connection has no socket, and hears of no end. */
  #watchSocket({ socket }: IncomingMessage | Http2ServerRequest, res: ServerResponse | Http2ServerResponse): void {
    const leave = () => this.#leave();
    socket.once("close", leave);
    res.once("close", () => socket.off("close", leave));
    if (socket.destroyed) this.#leave();
  }

  #leave(): void {
    this.#gone = true;
    this.#controller?.abort();
  }
}

/** HTTP/2's response does not say so itself. */
function isClosed(res: ServerResponse | Http2ServerResponse): boolean {
  return "stream" in res ? res.stream.destroyed : res.destroyed;
}
