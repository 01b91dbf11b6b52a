import { Buffer, isAscii } from "node:buffer";
import type { GatewayResponse } from "../gateway/gateway.js";
import type { NodeClient } from "./node-client.js";
import { discardRest } from "./node-discard-rest.js";
import type { NodeIncoming, NodeOutgoing } from "./node-pair.js";
import { type StreamedResponse, writeNodeStream } from "./node-stream.js";

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
export function writeNodeResponse(
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
