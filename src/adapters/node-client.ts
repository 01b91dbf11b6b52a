import type { Stream } from "node:stream";
import { AbortNotifier } from "../gateway/gateway.js";
import type { NodeIncoming, NodeOutgoing } from "./node-pair.js";

/** Watches whether the client is still there to take its response. */
export class NodeClient {
  #answered = false;
  #stalled = false;
  readonly #notifier = new AbortNotifier();
  readonly #res: NodeOutgoing;
  readonly maxStallMs: number;

  /** @param maxStallMs - how long the client may take nothing of its response. The writer of the response uses it. */
  constructor(req: NodeIncoming, res: NodeOutgoing, maxStallMs: number) {
    this.#res = res;
    this.maxStallMs = maxStallMs;
    if (isClosed(res)) {
      this.#notifier.abort();
      return;
    }
    // The response's own properties at its end differ between the versions of HTTP, and the host may have ended it.
    onClosed(res, () => {
      if (!this.#answered) this.#abort();
    });
    if (res.socket === null) this.#watchConnection(req, res);
  }

  /** The connection was closed before the response was complete. */
  get gone(): boolean {
    return this.#notifier.aborted;
  }

  /** The client was given up because it took nothing of its response. */
  get stalled(): boolean {
    return this.#stalled;
  }

  /** The client takes nothing of its response: from now on it counts as gone. */
  giveUp(): void {
    this.#stalled = true;
    this.#abort();
    this.#res.destroy();
  }

  /** All of the response is written: it does not matter any more whether the client leaves. */
  answered(): void {
    this.#answered = true;
  }

  /** Aborted when the client goes. */
  get signal(): AbortNotifier {
    return this.#notifier;
  }

  /**
   * A response that waits for the one before it on a pipelined connection has no socket, and gets no event of its end.
   */
  #watchConnection({ socket }: NodeIncoming, res: NodeOutgoing): void {
    onClosed(
      res,
      onceConnectionClosed(socket, () => this.#abort()),
    );
    if (socket.destroyed) this.#abort();
  }

  #abort(): void {
    this.#notifier.abort();
  }
}

/** HTTP/2's response has no such property of its own. */
function isClosed(res: NodeOutgoing): boolean {
  return "stream" in res ? res.stream.destroyed : res.destroyed;
}

const waiting = new WeakMap<Stream, Set<() => void>>();

/** One listener for each connection, however many responses wait on it: Node warns of more than ten. */
function onceConnectionClosed(socket: Stream, listener: () => void): () => void {
  const listeners = waiting.get(socket) ?? new Set();
  if (!waiting.has(socket)) {
    waiting.set(socket, listeners);
    onClosed(socket, () => {
      for (const notify of listeners) notify();
    });
  }
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** It happens once: to take the listener off again would only take time. */
function onClosed(stream: Stream, listener: () => void): void {
  stream.on("close", listener);
}
