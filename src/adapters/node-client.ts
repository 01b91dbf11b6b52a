import type { Stream } from "node:stream";
import type { NodeIncoming, NodeOutgoing } from "./node-pair.js";

/** Knows whether the client is still there to take its answer. */
export class NodeClient {
  #gone: boolean;
  #answered = false;
  #controller: AbortController | undefined;

  constructor(req: NodeIncoming, res: NodeOutgoing) {
    this.#gone = isClosed(res);
    if (this.#gone) return;
    // What the response says of its own end differs between the versions of HTTP, and may be of the host's doing.
    onceClosed(res, () => {
      if (!this.#answered) this.#leave();
    });
    if (res.socket === null) this.#watchConnection(req, res);
  }

  /** The connection was closed before the answer was complete. */
  get gone(): boolean {
    return this.#gone;
  }

  /** All of the answer is written: it does not matter any more whether the client leaves. */
  answered(): void {
    this.#answered = true;
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
  #watchConnection({ socket }: NodeIncoming, res: NodeOutgoing): void {
    onceClosed(
      res,
      onceConnectionClosed(socket, () => this.#leave()),
    );
    if (socket.destroyed) this.#leave();
  }

  #leave(): void {
    this.#gone = true;
    this.#controller?.abort();
  }
}

/** HTTP/2's response does not tell by itself. */
function isClosed(res: NodeOutgoing): boolean {
  return "stream" in res ? res.stream.destroyed : res.destroyed;
}

const waiting = new WeakMap<Stream, Set<() => void>>();

/** One listener for each connection, however many answers wait on it: Node warns of more than ten. */
function onceConnectionClosed(socket: Stream, listener: () => void): () => void {
  const listeners = waiting.get(socket) ?? new Set();
  if (!waiting.has(socket)) {
    waiting.set(socket, listeners);
    onceClosed(socket, () => {
      for (const leave of listeners) leave();
    });
  }
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function onceClosed(stream: Stream, listener: () => void): void {
  stream.once("close", listener);
}
