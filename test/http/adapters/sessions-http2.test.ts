import { once } from "node:events";
import { connect, createServer, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import type { HostRequest } from "../../../src/http/host-request.js";
import { toNodeHandler } from "../../../src/node.js";
import { startTestGateway } from "../../support/test-gateway.js";
import { chatBody } from "./client.js";

it("sessions over HTTP/2 compare the origin with the authority, and show no pseudo-header", async () => {
  const asked: HostRequest[] = [];
  const test = await startTestGateway({
    identify: (request) => {
      asked.push(request);
      return { account: "acct_browser", plan: "basic", anchor: null };
    },
  });
  const server = createServer(toNodeHandler(test.gateway)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const call = async (headers: Record<string, string>) => {
    const stream = session.request({
      ...{ ":method": "POST", ":path": "/v1/chat/completions", ":authority": "app.test" },
      ...{ "content-type": "application/json", cookie: "a=1", ...headers },
    });
    stream.end(chatBody());
    const [head] = (await once(stream, "response")) as [IncomingHttpHeaders];
    stream.resume();
    await once(stream, "close");
    return head[":status" as keyof IncomingHttpHeaders];
  };
  try {
    expect(await call({ origin: "https://app.test" })).toBe(200);
    expect(await call({ origin: "https://evil.test" })).toBe(403);
    expect(await call({ origin: "https://evil.test", host: "evil.test" })).toBe(403);
    expect(await call({})).toBe(403);
    const [first] = asked;
    expect([first?.method, first?.url, first?.header("cookie")]).toEqual(["POST", "/v1/chat/completions", "a=1"]);
    expect([...(first?.headers.keys() ?? [])]).toEqual(["content-type", "cookie", "origin"]);
  } finally {
    session.close();
    await new Promise((resolve) => server.close(resolve));
    await test.close();
  }
});
