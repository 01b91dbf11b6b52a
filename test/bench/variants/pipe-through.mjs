import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true });

/** A proxy as one writes it by hand: it pipes both ways, and parses nothing. */
export function pipeThrough(incoming, outgoing, { upstreamPort, path }) {
  const { method, headers } = incoming;
  const upstream = request({ host: "127.0.0.1", port: upstreamPort, method, path, headers, agent }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  upstream.on("error", () => outgoing.destroy());
  outgoing.on("close", () => {
    if (!outgoing.writableFinished) upstream.destroy();
  });
  incoming.pipe(upstream);
}
