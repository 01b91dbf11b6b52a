import { Buffer } from "node:buffer";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as send } from "node:http";
import type { AddressInfo } from "node:net";

export interface RecordedRequest {
  headers: IncomingHttpHeaders;
  body: string;
}

/** Stands between an agent and a gateway, and passes everything on as it is: what an agent itself has sent. */
export interface RequestRecorder {
  /** In place of the gateway's. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

export async function startRequestRecorder(gatewayURL: string): Promise<RequestRecorder> {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const { method = "GET", url = "/", headers } = request;
    requests.push({ headers, body: body.toString() });
    const forwarded = send(new URL(url, gatewayURL), { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: new URL(new URL(gatewayURL).pathname, `http://127.0.0.1:${(server.address() as AddressInfo).port}`).href,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}
