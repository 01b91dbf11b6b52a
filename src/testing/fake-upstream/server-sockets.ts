import type { Server } from "node:http";
import type { Socket } from "node:net";

/** The connections of a server. */
export class ServerSockets {
  /** How many the server has accepted so far. */
  accepted = 0;
  readonly #sockets = new Set<Socket>();
  readonly #waiters: (() => void)[] = [];

  constructor(server: Server) {
    server.on("connection", (socket) => {
      this.accepted += 1;
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => this.#remove(socket));
    });
  }

  get open(): number {
    return this.#sockets.size;
  }

  async allClosed(): Promise<void> {
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #remove(socket: Socket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size > 0) return;
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}
