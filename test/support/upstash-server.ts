import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Redis } from "ioredis";

type Outcome = { result: unknown } | { error: string };

/** What Upstash's REST API does, as its documentation has it, over a Redis of the test's own. */
export class UpstashServer {
  readonly url: string;
  readonly token = "upstash-token-of-the-test";
  /** The paths of the requests that were let in. */
  readonly paths: string[] = [];
  /** Takes the place of what the next requests get, where there is one. */
  replace: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  readonly #server: Server;
  readonly #client: Redis;

  private constructor(server: Server, client: Redis) {
    this.#server = server;
    this.#client = client;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(redisPort: number): Promise<UpstashServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = new Redis(redisPort, "127.0.0.1");
    client.on("error", () => {});
    return new UpstashServer(server, client);
  }

  async stop(): Promise<void> {
    this.#client.disconnect();
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (this.replace?.(request, response)) return;
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { "content-type": "application/json", "upstash-sync-token": "1" });
      response.end(JSON.stringify(body));
    };
    if (request.headers.authorization !== `Bearer ${this.token}`) return send(401, { error: "Unauthorized" });
    this.paths.push(String(request.url));
    const encode = request.headers["upstash-encoding"] === "base64" ? toBase64 : toText;
    const body: unknown = JSON.parse(Buffer.concat(pieces).toString());
    if (request.url === "/") {
      const outcome = await this.#run(body as unknown[], encode);
      return send("error" in outcome ? 400 : 200, outcome);
    }
    if (request.url === "/pipeline") {
      return send(200, await Promise.all((body as unknown[][]).map((command) => this.#run(command, encode))));
    }
    if (request.url === "/multi-exec") {
      const transaction = this.#client.multi();
      for (const command of body as unknown[][]) transaction.callBuffer(...(command.map(String) as [string]));
      const results = (await transaction.exec()) ?? [];
      return send(
        200,
        results.map(([error, result]) => (error ? { error: error.message } : { result: encode(result) })),
      );
    }
    send(404, { error: "Not found" });
  }

  async #run(command: unknown[], encode: (reply: unknown) => unknown): Promise<Outcome> {
    try {
      return { result: encode(await this.#client.callBuffer(...(command.map(String) as [string]))) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}

/** All texts but the status `OK`. */
function toBase64(reply: unknown): unknown {
  return Buffer.isBuffer(reply) && reply.toString("latin1") === "OK" ? "OK" : deepBase64(reply);
}

function deepBase64(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(deepBase64);
  return Buffer.isBuffer(reply) ? reply.toString("base64") : reply;
}

/** What is no UTF-8 is lost. */
function toText(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(toText);
  return Buffer.isBuffer(reply) ? reply.toString() : reply;
}
