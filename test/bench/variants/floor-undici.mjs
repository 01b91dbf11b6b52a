import { createServer } from "node:http";
import { Pool } from "undici";
import { listenOnLoopback } from "./listen.mjs";

/** The tighter floor: node:http on the one side, undici's dispatch on the other, and the bytes as they come. */
export function start({ upstreamOrigin }) {
  const pool = new Pool(upstreamOrigin);
  const server = createServer((incoming, outgoing) => {
    const pieces = [];
    incoming.on("data", (piece) => pieces.push(piece));
    incoming.on("end", () => {
      const body = pieces.length === 1 ? pieces[0] : Buffer.concat(pieces);
      passOn(pool, incoming, body, outgoing);
    });
  });
  return listenOnLoopback(server);
}

function passOn(pool, { method, url, headers }, body, outgoing) {
  const { host: _host, connection: _connection, ...rest } = headers;
  let abort;
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) abort?.();
  });
  pool.dispatch(
    { method, path: url, headers: rest, body },
    {
      onRequestStart(controller) {
        abort = () => controller.abort(new Error("The client left."));
      },
      onResponseStart(_controller, status, answerHeaders) {
        const { connection: _connection, ...others } = answerHeaders;
        outgoing.writeHead(status, others);
      },
      onResponseData(_controller, bytes) {
        outgoing.write(bytes);
      },
      onResponseEnd() {
        outgoing.end();
      },
      onResponseError() {
        outgoing.destroy();
      },
    },
  );
}
