import { StallTimer } from "../gateway/gateway.js";
import type { NodeClient } from "./node-client.js";
import type { NodeOutgoing } from "./node-pair.js";

/**
 * Gives a client up that takes nothing of what is written to it. What lies in this process counts: a small piece, such as a
 * keep-alive comment, is written without waiting for the client even when the one before it is still there.
 */
export class StallWatch {
  readonly #res: NodeOutgoing;
  readonly #timer: StallTimer;
  #written = 0;
  #takenAtLook: number | undefined;

  constructor(res: NodeOutgoing, client: NodeClient) {
    this.#res = res;
    this.#timer = new StallTimer(
      client.maxStallMs,
      () => this.#isTaking(),
      () => client.giveUp(),
    );
  }

  /** So many bytes of the response were written. */
  wrote(bytes: number): void {
    this.#written += bytes;
  }

  stop(): void {
    this.#timer.stop();
  }

  #isTaking(): boolean {
    const before = this.#takenAtLook;
    const taken = this.#taken();
    this.#takenAtLook = taken;
    return taken === undefined || taken !== before;
  }

  /** How many bytes have left this process; `undefined` when none waits for the client. */
  #taken(): number | undefined {
    const res = this.#res;
    if ("stream" in res) {
      const waiting = res.stream.writableLength;
      return waiting > 0 ? this.#written - waiting : undefined;
    }
    // A response that waits for the one before it on its connection has no socket: that is not the client's fault.
    const { socket } = res;
    if (socket === null || !(res.writableLength > 0)) return undefined;
    return socket.bytesWritten - socket.writableLength;
  }
}
