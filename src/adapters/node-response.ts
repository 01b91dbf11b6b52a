import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { GatewayResponse } from "../gateway/gateway.js";
import type { ClientPresence } from "./client-presence.js";
import { answerBeforeRest } from "./unread-body.js";

/** What both versions of HTTP can do. */
interface Outgoing {
  readonly headersSent: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  flushHeaders(): void;
  write(piece: Uint8Array | string): boolean;
  end(body?: Uint8Array | string): unknown;
  on(event: "drain", listener: () => void): unknown;
  off(event: "drain", listener: () => void): unknown;
}

/** Writes the gateway's answer. Ends when the answer is complete or the client has gone. */
export async function writeNodeResponse(
  req: IncomingMessage | Http2ServerRequest,
  res: ServerResponse | Http2ServerResponse,
  client: ClientPresence,
  { status, headers, body }: GatewayResponse,
): Promise<void> {
  const closes = headers["connection"] === "close";
  // HTTP/2 knows no such header.
  if (req.httpVersionMajor >= 2) delete headers["connection"];
  if (isStream(body)) {
    await writeStream(res, client, status, headers, body);
    return;
  }
  // The host may have answered in the meantime, by a time-out for instance.
  if (client.gone || res.headersSent) return;
  const bytes = body ?? "";
  if (body !== null) headers["content-length"] = String(Buffer.byteLength(bytes));
  writeHead(res, status, headers);
  if (closes && !req.complete) answerBeforeRest(req, res, bytes);
  else end(res, req.method === "HEAD" || body === null ? undefined : bytes);
}

/** Each piece leaves at once; the next one is asked for when the client has taken it. */
async function writeStream(
  res: Outgoing,
  client: ClientPresence,
  status: number,
  headers: Record<string, string>,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const pieces = body[Symbol.asyncIterator]();
  try {
    if (client.gone || res.headersSent) return;
    res.writeHead(status, headers);
    res.flushHeaders();
    for (;;) {
      const { done, value } = await pieces.next();
      if (client.gone) return;
      if (done) break;
      if (!res.write(value)) await drained(res, client);
    }
    res.end();
  } finally {
    await pieces.return?.();
  }
}
