import type { IncomingMessage, ServerResponse } from "node:http";
import type { GatewayResponse } from "../gateway/gateway.js";

/** How much of a body that nobody wants is taken in, so that the answer reaches a client that is still sending. */
const drainBytes = 1024 * 1024;
const drainMs = 1000;

/** Writes the gateway's answer. Ends when the answer is complete or the client has gone; never rejects. */
export async function writeNodeResponse(
  req: IncomingMessage,
  res: ServerResponse,
  response: GatewayResponse,
): Promise<void> {
  const { status, headers, body } = response;
  if (res.destroyed || res.headersSent) {
    if (isStream(body)) await body[Symbol.asyncIterator]().return?.();
    return;
  }
  if (req.httpVersionMajor >= 2) delete headers["connection"];
  if (isStream(body)) {
    await writeStream(res, status, headers, body);
    return;
  }
  if (body !== null) headers["content-length"] = String(Buffer.byteLength(body));
  res.writeHead(status, headers);
  if (headers["connection"] === "close" && !req.complete) {
    if (body !== null) res.write(body);
    endAfterDraining(req, res);
    return;
  }
  res.end(req.method === "HEAD" || body === null ? undefined : body);
}

/** Each piece leaves at once; the next one is asked for when the client has taken it. */
async function writeStream(
  res: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  res.writeHead(status, headers);
  res.flushHeaders();
  try {
    for await (const piece of body) {
      if (res.destroyed) break;
      if (!res.write(piece)) await drained(res);
      if (res.destroyed) break;
    }
    if (!res.destroyed) res.end();
  } catch {
    // The pipeline turns failures into an error event; without one, only a broken connection tells the client.
    res.destroy();
  }
}

function drained(res: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      res.off("drain", done).off("close", done);
      resolve();
    };
    if (res.destroyed) resolve();
    else res.on("drain", done).on("close", done);
  });
}

/** A connection that is closed while its client is still sending is reset, and the answer may be lost with it. */
function endAfterDraining(req: IncomingMessage, res: ServerResponse): void {
  let taken = 0;
  const end = () => {
    clearTimeout(timer);
    req.off("data", take).off("end", end).off("close", end);
    res.end();
  };
  const take = (piece: Uint8Array | string) => {
    taken += piece.length;
    if (taken > drainBytes) end();
  };
  const timer = setTimeout(end, drainMs);
  req.on("data", take).on("end", end).on("close", end);
  req.resume();
}

function isStream(body: GatewayResponse["body"]): body is AsyncIterable<Uint8Array> {
  return typeof body === "object" && body !== null && Symbol.asyncIterator in body;
}
