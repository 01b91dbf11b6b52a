import { connect, type Socket } from "node:net";

/** A TCP connection on which a test writes its own HTTP. */
export interface RawConnection {
  readonly socket: Socket;
  /** All that has come so far. */
  readonly received: string;
  send(...lines: string[]): void;
  /** Resolves when it has come; fails when the connection ends without it. */
  until(pattern: RegExp | string | ((received: string) => boolean)): Promise<string>;
  /** Resolves with all that came when the connection is closed, by whichever side. */
  readonly closed: Promise<string>;
}

export async function openRaw(origin: string | undefined): Promise<RawConnection> {
  if (origin === undefined) throw new Error("This host has no server.");
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  let received = "";
  let wake = () => {};
  let failure: Error | undefined;
  socket.setEncoding("latin1");
  socket.on("data", (piece: string) => {
    received += piece;
    wake();
  });
  socket.on("error", (error) => {
    failure = error;
  });
  const closed = new Promise<string>((resolve) => {
    socket.on("close", () => {
      wake();
      resolve(received);
    });
  });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return {
    socket,
    closed,
    get received() {
      return received;
    },
    send: (...lines) => void socket.write(lines.join("\r\n"), "latin1"),
    async until(pattern) {
      const isThere = () => {
        if (typeof pattern === "string") return received.includes(pattern);
        return typeof pattern === "function" ? pattern(received) : pattern.test(received);
      };
      while (!isThere()) {
        if (socket.destroyed)
          throw new Error(`The connection ended without ${pattern}:\n${received}`, { cause: failure });
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return received;
    },
  };
}

/** The head of a POST with a key, up to and with the empty line. */
export function postHead(path: string, ...headers: string[]): string {
  return [
    `POST ${path} HTTP/1.1`,
    "host: gateway.test",
    "authorization: Bearer sk-pro",
    "content-type: application/json",
    ...headers,
    "",
    "",
  ].join("\r\n");
}
