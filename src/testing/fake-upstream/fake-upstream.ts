import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type FakeAnswer, type FakeRequest, honestChat } from "./fake-responses.js";

/** A real model server on loopback that responds as the test wants. */
export interface FakeUpstream {
  /** The base URL, such as `http://127.0.0.1:40123/v1`. */
  readonly url: string;
  /** The same without `/v1`. */
  readonly origin: string;
  /** Every request so far, oldest first. */
  readonly requests: readonly FakeRequest[];
  /** The newest request; throws when there is none. */
  readonly lastRequest: FakeRequest;
  /** Connections that are open right now. */
  readonly openSockets: number;
  /** Connections that were ever opened. */
  readonly acceptedSockets: number;
  /** Answers every request from now on this way. Without it the upstream is an `honestChat()`. */
  reply(answer: FakeAnswer): void;
  /** Answers the next request this way, before `reply` counts again; several calls queue up. */
  replyOnce(answer: FakeAnswer): void;
  /** The request after those that this method has given out already, as soon as it is there. */
  nextRequest(): Promise<FakeRequest>;
  /** Resolves as soon as no connection is open. */
  idle(): Promise<void>;
  /** Stops listening and cuts every connection. Fails when an answer has thrown. */
  close(): Promise<void>;
}

/**
 * Starts a fake upstream on a random port.
 *
 * @example
 * const upstream = await startFakeUpstream();
 * const gate = createGate();
 * upstream.replyOnce(eventStream(chatChunks("Hello world"), { gate }));
 * // … call the gateway, then:
 * gate.step(2); // headers and the first chunk
 * const request = await upstream.nextRequest();
 * expect(request.json.model).toBe("gpt-4o-mini");
 * await upstream.close();
 */
export async function startFakeUpstream(options: { port?: number } = {}): Promise<FakeUpstream> {
  const requests: FakeRequest[] = [];
  const onceAnswers: FakeAnswer[] = [];
  const errors: unknown[] = [];
  const requestWaiters: ((request: FakeRequest) => void)[] = [];
  let answer: FakeAnswer = honestChat();
  let takenRequests = 0;

  const server = createServer({ keepAliveTimeout: 60_000 }, async (message, response) => {
    response.on("error", () => {});
    try {
      const request = await readRequest(message, response);
      requests.push(request);
      if (requestWaiters.length > 0) {
        takenRequests += 1;
        requestWaiters.shift()?.(request);
      }
      await (onceAnswers.shift() ?? answer)(request, response);
    } catch (error) {
      // A client that leaves while it is still sending is not a mistake of the test.
      if (!message.destroyed || message.complete) {
        errors.push(error);
      }
      response.destroy();
    }
  });
  const sockets = new ServerSockets(server);
  const origin = `http://127.0.0.1:${await listen(server, options.port ?? 0)}`;

  return {
    url: `${origin}/v1`,
    origin,
    requests,
    get lastRequest() {
      const request = requests.at(-1);
      if (!request) {
        throw new Error("The fake upstream has not been called.");
      }
      return request;
    },
    get openSockets() {
      return sockets.open;
    },
    get acceptedSockets() {
      return sockets.accepted;
    },
    reply(newAnswer) {
      answer = newAnswer;
    },
    replyOnce(newAnswer) {
      onceAnswers.push(newAnswer);
    },
    async nextRequest() {
      const request = requests[takenRequests];
      if (request) {
        takenRequests += 1;
        return request;
      }
      return new Promise((resolve) => requestWaiters.push(resolve));
    },
    idle: () => sockets.allClosed(),
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        sockets.destroy();
      });
      if (errors.length > 0) {
        throw new AggregateError(errors, `An answer of the fake upstream has thrown: ${errors[0]}`);
      }
    },
  };
}

/** @returns the port. */
async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  // A listening TCP server always has an AddressInfo.
  return (server.address() as AddressInfo).port;
}

async function readRequest(message: IncomingMessage, response: ServerResponse): Promise<FakeRequest> {
  const { socket } = message;
  const closed = new Promise<"completed" | "broken">((resolve) => {
    // Whichever comes first: the operating system has the whole response, or the connection is gone. Node emits
    // "finish" in the second case, too, when it drops what could not be written.
    response.once("finish", () => resolve(socket.destroyed ? "broken" : "completed"));
    response.once("close", () => resolve("broken"));
  });
  const parts: Buffer[] = [];
  for await (const part of message) {
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  return {
    method: message.method ?? "",
    url: message.url ?? "",
    headers: message.headers,
    rawHeaders: message.rawHeaders,
    body,
    get json() {
      return JSON.parse(body.toString("utf8"));
    },
    socket,
    closed,
  };
}

/** The connections of a server. */
class ServerSockets {
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
