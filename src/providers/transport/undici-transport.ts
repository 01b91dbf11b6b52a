import type { buildConnector, Client, Dispatcher, Pool } from "undici";
import type { DirectResponse, RequestBytes } from "../direct-call.js";
import { UpstreamError } from "../upstream-provider.js";
import { IdleTimeoutPool } from "./idle-timeout.js";
import type { Transport, TransportOptions, TransportRequest } from "./transport.js";
import { type CallConnection, SentPieces, UndiciCall, type UndiciCallOptions } from "./undici-call.js";
import { UndiciSocket } from "./undici-socket.js";

/**
 * How long a connection is kept without work, in milliseconds, where the server announces nothing. A request that meets
 * the server's own closing has to be sent twice, so the gateway had better be the first to close. Public services keep
 * connections for a minute and more, and a TLS handshake is expensive. Model servers in the own network are often
 * uvicorn, which closes after 5 s without notice; there a new connection costs next to nothing.
 */
const keepAliveMs = { "https:": 30_000, "http:": 4_000 };

/** How much sooner than announced by `Keep-Alive: timeout=…` a connection is given up, in milliseconds. */
const keepAliveMarginMs = 2_000;

function toDispatch(
  path: string,
  headers: TransportRequest["headers"],
  body: RequestBytes,
  call: UndiciCall,
): UndiciCallOptions {
  if (body instanceof Uint8Array) return { method: "POST", path, headers, body, call };
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const pieces = new SentPieces(body);
  return {
    method: "POST",
    path,
    headers: { ...headers, "content-length": String(length) },
    // Undici writes what can be iterated piece by piece. Its types do not say so.
    body: pieces as unknown as NonNullable<UndiciCallOptions["body"]>,
    call,
    pieces,
  };
}

/**
 * The transport for Node: a keep-alive pool of undici's, without the cost of `fetch`, of Node streams and of undici's
 * coarse timers.
 */
export async function createUndiciTransport(options: TransportOptions): Promise<Transport> {
  // The package puts its own agent under the host's `fetch` where there is none yet. Node's own is there as soon as a class of
  // `fetch` was looked at. Imported here, since a bundler may move what is imported at the top.
  void globalThis.Headers;
  const undici = await import("undici");
  const openConnection = connectionsOf(undici);
  const origin = new URL(options.origin);
  // One for all connections: it remembers TLS sessions. Timeout 0: we keep the time ourselves.
  const connect = undici.buildConnector({ timeout: 0 });
  const timers = new IdleTimeoutPool();
  let pool: Pool | undefined;

  function openPool(): Pool {
    const clientOptions = {
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: origin.protocol === "https:" ? keepAliveMs["https:"] : keepAliveMs["http:"],
      keepAliveTimeoutThreshold: keepAliveMarginMs,
    };
    return new undici.Pool(origin, {
      connections: options.maxConnections ?? null,
      factory: (url) => openConnection(url, clientOptions, connect, options.connectTimeoutMs),
    });
  }

  return {
    send(request: TransportRequest): Promise<DirectResponse> {
      const { signal } = request;
      if (signal.aborted) {
        return Promise.reject(new UpstreamError("aborted", "The call was aborted.", { cause: signal.reason }));
      }
      pool ??= openPool();
      const { path, headers, body, handover } = request;
      const through = pool;
      return new Promise((resolve, reject) => {
        const call = new UndiciCall(signal, options, timers, { resolve, reject, handover });
        through.dispatch(toDispatch(path, headers, body, call), call);
      });
    },
    async close(): Promise<void> {
      const closing = pool;
      pool = undefined;
      if (!closing) return;
      if (closing.stats.size === 0) await closing.close();
      else closing.close(() => {});
    },
  };
}

/** What is used of the package `undici`, which is loaded late. */
type Undici = Pick<typeof import("undici"), "buildConnector" | "Client" | "Pool">;

type OpenConnection = (
  origin: URL,
  options: Client.Options,
  connect: buildConnector.connector,
  connectTimeoutMs: number,
) => Client;

/**
 * Opens the connections of a pool. Each shows a call its socket, which undici does not. The call needs the socket to abort
 * while it still connects, and to pause it while the reader does not read.
 */
function connectionsOf({ Client: UndiciClient }: Undici): OpenConnection {
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
