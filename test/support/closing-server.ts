import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What a {@link ClosingServer} does with a request: sends this text, or closes its connection. */
export type Reaction = string | "fin" | "rst" | ((socket: Socket) => void);

/** A request, as it is told to what decides about it. */
export interface Arrival {
  /** How many requests came before it over the same connection. */
  readonly onSocket: number;
  /** How many requests came before it over all connections. */
  readonly inAll: number;
  readonly head: string;
}

/** A server at the level of its connections, which decides about each request as soon as its head is there. */
export interface ClosingServer {
  readonly baseURL: string;
  /** The requests that came so far, and those that got a response. */
  readonly received: number;
  readonly served: number;
  /** The connections so far, and the most that were open at once: none that one side has closed. */
  readonly sockets: number;
  readonly mostAtOnce: number;
}

export const wholeResponse = (extra = "") =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${extra}content-length: ${chat.length}\r\n\r\n${chat}`;

/** A stream of one chunk, in chunked encoding, so that its connection stays. */
export const streamedResponse = () =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${events.length.toString(16)}\r\n${events}\r\n0\r\n\r\n`;

const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 };
const common = { id: "chatcmpl-1", created: 1, model: "m", usage };
const chat = JSON.stringify({
  ...common,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
});
const chunk = JSON.stringify({
  ...common,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
});
const events = `data: ${chunk}\n\ndata: [DONE]\n\n`;

/** Closes each connection when its second request comes; the first one gets a response. */
export function closesSecond(how: "fin" | "rst", response: string) {
  return ({ onSocket }: Arrival): Reaction => (onSocket === 0 ? response : how);
}

/** Started until the end of the test. A response is written when the whole request is there; else it reacts to the head. */
export async function startClosingServer(react: (arrival: Arrival) => Reaction): Promise<ClosingServer> {
  const open = new Set<Socket>();
  const sockets = new Set<Socket>();
  const counts = { received: 0, served: 0, sockets: 0, mostAtOnce: 0 };
  const server = createServer((socket) => {
    sockets.add(socket);
    open.add(socket);
    counts.sockets += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, open.size);
    socket.on("error", () => {});
    socket.once("end", () => open.delete(socket));
    socket.once("close", () => sockets.delete(socket) && open.delete(socket));
    serve(socket, react, counts, () => open.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return Object.defineProperties(counts, { baseURL: { value: `http://127.0.0.1:${port}/v1` } }) as never;
}

function serve(
  socket: Socket,
  react: (arrival: Arrival) => Reaction,
  counts: { received: number; served: number },
  closes: () => void,
): void {
  let onSocket = 0;
  let text = "";
  let rest = -1;
  let reaction: Reaction = "";
  socket.on("data", (bytes) => {
    if (rest < 0) {
      text += bytes.toString("latin1");
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = text.slice(0, end);
      reaction = react({ onSocket, inAll: counts.received, head });
      counts.received += 1;
      onSocket += 1;
      if (reaction === "fin" || reaction === "rst") {
        socket.removeAllListeners("data").resume();
        closes();
        return void (reaction === "fin" ? socket.end() : socket.resetAndDestroy());
      }
      rest = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - (text.length - end - 4);
      text = "";
    } else {
      rest -= bytes.length;
    }
    if (rest > 0) return;
    rest = -1;
    if (typeof reaction === "function") return reaction(socket);
    counts.served += 1;
    socket.write(reaction);
  });
}
