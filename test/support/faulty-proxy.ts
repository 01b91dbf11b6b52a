import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** What becomes of a connection: it ends after so many bytes in one direction, or all that it carries is late. */
type Fault =
  | { readonly kind: "cut" | "reset"; readonly direction: "up" | "down"; readonly afterBytes: number }
  | { readonly kind: "delay"; readonly ms: number };

/** Stands between a client and its server on the loopback interface, and breaks connections, each in the next way. */
export class FaultyProxy {
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #connections = 0;
  #isHealed = false;

  private constructor(upstreamPort: number) {
    this.#server = createServer((client) => this.#carry(client, connect(upstreamPort, "127.0.0.1")));
  }

  static async start(upstreamPort: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(upstreamPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many connections there were. */
  get connections(): number {
    return this.#connections;
  }

  /** From now on it carries everything as it is. */
  heal(): void {
    this.#isHealed = true;
  }

  async stop(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #carry(client: Socket, upstream: Socket): void {
    const fault = faultOf(this.#connections++);
    for (const socket of [client, upstream]) {
      this.#open.add(socket);
      socket.setNoDelay(true);
      // What ends the one ends the other.
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    this.#pass(client, upstream, "up", fault);
    this.#pass(upstream, client, "down", fault);
  }

  #pass(from: Socket, to: Socket, direction: "up" | "down", fault: Fault): void {
    let passed = 0;
    from.on("data", (data) => {
      if (this.#isHealed) to.write(data);
      else if (fault.kind === "delay") setTimeout(() => to.writable && to.write(data), fault.ms);
      else if (fault.direction !== direction || passed + data.length < fault.afterBytes) to.write(data);
      else {
        // In the middle of a message, as likely as not.
        to.write(data.subarray(0, fault.afterBytes - passed), () => {
          if (fault.kind === "cut") to.destroy();
          else to.resetAndDestroy();
        });
      }
      passed += data.length;
    });
  }
}

function faultOf(connection: number): Fault {
  const afterBytes = 1_500 + ((connection * 7_919) % 20_011);
  const direction = connection % 2 === 0 ? "up" : "down";
  if (connection % 5 === 4) return { kind: "delay", ms: 20 };
  return { kind: connection % 3 === 0 ? "reset" : "cut", direction, afterBytes };
}
