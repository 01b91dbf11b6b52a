/// <reference path="./undici-files.d.ts" />
import type { buildConnector, Dispatcher } from "undici";
import Client from "undici/lib/dispatcher/client.js";
import type { CallConnection, UndiciCallOptions } from "./undici-call.js";
import { UndiciSocket } from "./undici-socket.js";

/**
 * One connection of the pool. It shows a call its socket, which undici does not. The call needs the socket to abort
 * while it still connects, and to pause it while the reader does not read.
 */
export class UndiciConnection extends Client implements CallConnection {
  readonly line: UndiciSocket;

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector, connectTimeoutMs: number) {
    const line = new UndiciSocket(connect, connectTimeoutMs);
    super(origin, { ...options, connect: line.connect });
    this.line = line;
  }

  override dispatch(options: UndiciCallOptions, handler: Dispatcher.DispatchHandler): boolean {
    options.call?.goOver(this, options);
    return super.dispatch(options, handler);
  }
}
