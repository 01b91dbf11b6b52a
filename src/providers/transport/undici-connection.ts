import type { buildConnector, Client, Dispatcher } from "undici";
import type { CallConnection, UndiciCallOptions } from "./undici-call.js";
import { UndiciSocket } from "./undici-socket.js";

/** What is used of the package `undici`, which is loaded late. */
export type Undici = Pick<typeof import("undici"), "buildConnector" | "Client" | "Pool">;

export type OpenConnection = (
  origin: URL,
  options: Client.Options,
  connect: buildConnector.connector,
  connectTimeoutMs: number,
) => Client;

/**
 * Opens the connections of a pool. Each shows a call its socket, which undici does not. The call needs the socket to abort
 * while it still connects, and to pause it while the reader does not read.
 */
export function connectionsOf({ Client: UndiciClient }: Undici): OpenConnection {
  class UndiciConnection extends UndiciClient implements CallConnection {
    readonly line: UndiciSocket;

    constructor(...[origin, options, connect, connectTimeoutMs]: Parameters<OpenConnection>) {
      const line = new UndiciSocket(connect, connectTimeoutMs);
      super(origin, { ...options, connect: line.connect });
      this.line = line;
    }

    override dispatch(options: UndiciCallOptions, handler: Dispatcher.DispatchHandler): boolean {
      options.call?.goOver(this, options);
      return super.dispatch(options, handler);
    }
  }
  return (...how) => new UndiciConnection(...how);
}
