import { Buffer, isAscii } from "node:buffer";
import type { Readable, Stream } from "node:stream";
import {
  type GatewayResponse,
  handle,
  type Mountable,
  type MountedHandler,
  requireMountable,
  tells,
} from "../gateway/gateway.js";
import {
  Connections,
  NodeClient,
  type NodeIncoming,
  type NodeOutgoing,
  type NodePair,
  NodeRequest,
} from "./node-request.js";
import { type StreamedResponse, writeNodeStream } from "./node-stream.js";

export type { NodeIncoming, NodeOutgoing } from "./node-request.js";

/** A request listener for `node:http` and `node:http2`; with `next`, middleware for Connect and what is built on it. */
export type NodeHandler = (req: NodeIncoming, res: NodeOutgoing, next?: (error?: unknown) => void) => void;

/**
 * Mounts the gateway, or a page of `infergate/pages`, in a `node:http` server. Without `next`, a path that is not the gateway's gets its 404; with it,
 * `next()` is called. Make it once, not for each request.
 *
 * @example
 * ```ts
 * createServer(toNodeHandler(gateway)).listen(3000);
 * ```
 */
export function toNodeHandler(gateway: Mountable): NodeHandler {
  const mountable = requireMountable("toNodeHandler", gateway);
  const bridge = new NodeBridge(mountable);
  const isBelowPrefix = gateway.basePath !== "";
  return (req, res, next) => {
    const path = pathOf(req.url);
    const within = pathWithin(gateway.basePath, path);
    const isOwn = within !== undefined && (gateway.serves(within) || mountable[tells](within, req, isBelowPrefix));
    if (next !== undefined && !isOwn) next();
    else bridge.serve({ req, res }, within ?? outsideOf(path));
  };
}

/** A path outside of the base path, so written that no gateway serves it. */
function outsideOf(path: string): string {
  return `/${path}`;
}

/** The one bridge from Node's pair to a mounted gateway and back. One serves all requests: it knows their connections. */
export class NodeBridge {
  readonly #gateway: MountedHandler;
  readonly #connections = new Connections();

  constructor(gateway: MountedHandler) {
    this.#gateway = gateway;
  }

  /**
   * Nothing is ever thrown, whatever happens to the connection.
   *
   * @param path - undecoded, without query, from where the gateway is mounted.
   * @param payload - what the host has made of the request's stream, if it is not the request itself.
   */
  serve(pair: NodePair, path: string, payload: Readable = pair.req): void {
    const { req, res } = pair;
    ignoreErrors(req);
    ignoreErrors(res);
    const gateway = this.#gateway;
    const client = new NodeClient(pair, gateway.maxStallMs, this.#connections);
    // Only a broken connection can notify the client then.
    const fail = (): void => void res.destroy();
    gateway[handle](new NodeRequest(pair, client, path, payload)).then((response) => {
      try {
        writeNodeResponse(req, res, client, response)?.catch(fail);
      } catch {
        fail();
      }
    }, fail);
  }
}

function ignore(): void {}

/** A broken connection is no error of the host's; without a listener it would end the process. */
export function ignoreErrors(stream: Stream): void {
  stream.on("error", ignore);
}

/**
 * The path of a request target, undecoded and without query. The target may come in absolute form (RFC 9112, section
 * 3.2.2). `new URL` is no help: it reads `//v1/models` as the host v1.
 */
export function pathOf(target = "/"): string {
  let start = 0;
  if (target.charCodeAt(0) !== slash) {
    const authority = target.indexOf("://") + 3;
    start = authority < 3 ? 0 : target.indexOf("/", authority);
    if (start < 0) return "/";
  }
  const query = target.indexOf("?", start);
  return query < 0 ? target.slice(start) : target.slice(start, query);
}

/** The path behind `basePath`, or `undefined` when it is not below it: `/api/ai/v10` is not below `/api/ai/v1`. */
export function pathWithin(basePath: string, path: string): string | undefined {
  if (basePath === "") return path;
  if (!path.startsWith(basePath)) return undefined;
  if (path.length === basePath.length) return "/";
  return path.charCodeAt(basePath.length) === slash ? path.slice(basePath.length) : undefined;
}

const slash = 0x2f;

/** What both kinds of response can do. */
interface Outgoing {
  writeHead(status: number, headers: Record<string, string>): unknown;
  write(piece: Uint8Array | string): boolean;
  write(piece: string, encoding: "latin1" | "utf8"): boolean;
  readonly socket: { cork(): void; uncork(): void } | null;
  end(body?: Uint8Array | string): unknown;
}

/**
 * Writes the gateway's response.
 * @returns a promise for a stream alone, that ends when the response is complete or the client has gone.
 */
function writeNodeResponse(
  req: NodeIncoming,
  res: NodeOutgoing,
  client: NodeClient,
  response: GatewayResponse,
): Promise<void> | undefined {
  const { body, headers } = response;
  if (isStream(body)) {
    // HTTP/2 knows no such header.
    if (req.httpVersionMajor >= 2) delete headers["connection"];
    return writeNodeStream(res as StreamedResponse, client, response, body);
  }
  // The host may have responded in the meantime: with its own timeout, for instance.
  if (client.gone || res.headersSent) return undefined;
  if (body !== null && body.length > longBody && req.method !== "HEAD" && headers["connection"] !== "close") {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    headers["content-length"] = String(bytes.length);
    return writeNodeStream(res as StreamedResponse, client, response, slicesOf(bytes));
  }
  client.answered();
  writeWhole(req, res, response, body);
  return undefined;
}

/** A whole response beyond it is written like a stream: the rest of a slow client's response is not kept for ever. */
const longBody = 128 * 1024;

async function* slicesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let start = 0; start < bytes.length; start += longBody) yield bytes.subarray(start, start + longBody);
}

function writeWhole(
  req: NodeIncoming,
  res: NodeOutgoing,
  { status, headers }: GatewayResponse,
  body: string | Uint8Array | null,
): void {
  const outgoing: Outgoing = res;
  const length = body === null ? 0 : Buffer.byteLength(body);
  if (body !== null) headers["content-length"] = String(length);
  // A server may refuse the body that Node otherwise leaves out.
  const isHead = req.method === "HEAD";
  const bytes = isHead ? "" : (body ?? "");
  const closes = headers["connection"] === "close" && !req.complete && !isHead;
  if (req.httpVersionMajor >= 2) delete headers["connection"];
  outgoing.writeHead(status, headers);
  if (!closes) {
    if ("stream" in res) outgoing.end(bytes);
    else endWith(outgoing, bytes, length);
  } else if ("stream" in res) {
    const { stream } = res;
    outgoing.end(bytes);
    discardRest(req, () => stream.close());
  } else {
    // The response's length is known, so it is complete without its end; the end would close the connection.
    outgoing.write(bytes);
    discardRest(req, () => outgoing.end());
  }
}

/**
 * Node joins text to the headers; bytes it writes by themselves, which costs a short body more than to become text.
 * Text that is written before the end leaves in one plain write: the end itself would add an empty one to it. Hosts that
 * stand in for a server may read any text as UTF-8, so that only ASCII is safe.
 */
function endWith(res: Outgoing, body: Uint8Array | string, length: number): void {
  const { socket } = res;
  const isShort = body instanceof Buffer && length <= shortBody && isAscii(body);
  const text = isShort ? body.toString("latin1") : body;
  if (typeof text !== "string" || !socket || text === "") {
    res.end(body);
    return;
  }
  socket.cork();
  res.write(text, text.length === length ? "latin1" : "utf8");
  socket.uncork();
  res.end();
}

const shortBody = 16 * 1024;

function isStream(body: GatewayResponse["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}

/** How much of an unused body is read, and for how long. */
const mostBytes = 64 * 1024 * 1024;
const mostMs = 2000;

/**
 * Reads the rest of a request whose response is written already. A connection that is closed while its client is still
 * sending is reset, and the response may be lost with it.
 */
function discardRest(req: Readable, done: () => void): void {
  let taken = 0;
  const stop = () => {
    clearTimeout(timer);
    req.off("data", take).off("end", stop).off("close", stop);
    done();
  };
  const take = (piece: Uint8Array | string) => {
    taken += piece.length;
    if (taken > mostBytes) stop();
  };
  const timer = setTimeout(stop, mostMs).unref();
  req.on("data", take).on("end", stop).on("close", stop);
  req.resume();
}
