import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Stands between a client and its server, and damages the connections on command. */
export class TcpProxy {
  /** Where new connections go. */
  target: number;
  /** `refuse`: new connections are reset at once. */
  mode: "pass" | "refuse" = "pass";
  /** By so many milliseconds later everything arrives, in both directions. */
  delayMs = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #stranded = new WeakSet<Socket>();
  readonly #held: (() => void)[] = [];
  readonly #silent = new WeakSet<Socket>();
  #isStalled = false;

  private constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resets every connection: what is on its way is lost. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
    this.#sockets.clear();
    this.#held.length = 0;
  }

  /** The connections of now are dead, and neither side learns of it. New ones pass. */
  strand(): void {
    for (const socket of this.#sockets) this.#stranded.add(socket);
  }

  /** From now on nothing arrives, and neither side gets an error. */
  stall(): void {
    this.#isStalled = true;
  }

  /** What was held back arrives. */
  flow(): void {
    this.#isStalled = false;
    for (const deliver of this.#held.splice(0)) deliver();
  }

  /** The connections that there are carry nothing any more, and neither side gets an error. New ones do. */
  silence(): void {
    for (const socket of this.#sockets) this.#silent.add(socket);
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    if (this.mode === "refuse") {
      client.on("error", () => {});
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.target, "127.0.0.1");
    this.#pipe(client, server);
    this.#pipe(server, client);
  }

  #pipe(from: Socket, to: Socket): void {
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on("data", (data) => {
      if (this.#silent.has(from)) return;
      const deliver = () => {
        if (!to.destroyed) to.write(data);
      };
      if (this.#stranded.has(from)) return;
      if (this.#isStalled) this.#held.push(deliver);
      else if (this.delayMs > 0) setTimeout(deliver, this.delayMs);
      else deliver();
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
