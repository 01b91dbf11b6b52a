import type { IncomingMessage } from "node:http";

const loopback = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"]);
const localHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/**
 * Whether a request comes from this machine, by an address of this machine. The demo signs in whoever sends one, which no app
 * may do: the address of a proxy is local, too, and so may be a name that somebody else's page has.
 */
export function isLocal({ socket, headers }: IncomingMessage): boolean {
  return loopback.has(socket.remoteAddress ?? "") && localHost.test(headers.host ?? "");
}
