import type { Stream } from "node:stream";
import { AbortNotifier } from "../gateway/gateway.js";
import type { NodeIncoming, NodeOutgoing } from "./node-pair.js";

/** Knows whether the client is still there to take its answer. */
export class NodeClient {
  #answered = false;
  #stalled = false;
  readonly #notifier = new AbortNotifier();
  readonly #res: NodeOutgoing;
  readonly maxStallMs: number;

  /** @param maxStallMs - for how long it may take nothing of its answer, for whoever writes that. */
  constructor(req: NodeIncoming, res: NodeOutgoing, maxStallMs: number) {
    this.#res = res;
    this.maxStallMs = maxStallMs;
    if (isClosed(res)) {
      this.#notifier.abort();
      return;
    }
    // What the response says of its own end differs between the versions of HTTP, and may be of the host's doing.
    onClosed(res, () => {
      if (!this.#answered) this.#abort();
    });
    if (res.socket === null) this.#watchConnection(req, res);
  }

  /** The connection was closed before the answer was complete. */
  get gone(): boolean {
    return this.#notifier.aborted;
  }

  /** It was given up because it took nothing of its answer. */
  get stalled(): boolean {
    return this.#stalled;
  }

  /** It takes nothing of its answer: from now on it counts as gone. */
  giveUp(): void {
    this.#stalled = true;
    this.#abort();
    this.#res.destroy();
  }

  /** All of the answer is written: it does not matter any more whether the client leaves. */
  answered(): void {
    this.#answered = true;
  }

  /** Aborted when the client goes. */
  get signal(): AbortNotifier {
    return this.#notifier;
  }

  /** An answer that waits for the one before it on a pipelined connection has no socket, and hears of no end. */
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
