import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createServer,
  type IncomingHttpHeaders,
} from "node:http2";
import type { AddressInfo } from "node:net";
import fastify5 from "fastify";
import fastify4 from "fastify4";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toFastifyPlugin } from "../../../src/fastify.js";
import type { Gateway } from "../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { toNodeHandler } from "../../../src/node.js";
import { chatChunks, createGate, eventStream, hangBeforeHeaders } from "../../../src/testing.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { authorized, chatBody, eventually } from "./client.js";
import { floodOf, mostPieces, stalled } from "./flood.js";
import { watchProcess } from "./process-watch.js";

const hosts: Record<string, (gateway: Gateway) => Promise<{ port: number; close(): Promise<unknown> }>> = {
  "node:http2": async (gateway) => {
    const server = createServer(toNodeHandler(gateway)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const close = () => new Promise((resolve) => server.close(resolve));
    return { port: (server.address() as AddressInfo).port, close };
  },
  "Fastify 4": async (gateway) => {
    const app = fastify4({ http2: true });
    app.addHook("onRequest", async (_request, reply) => void reply.header("x-host", "set by a hook"));
    app.register(toFastifyPlugin(gateway));
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
  },
  "Fastify 5": async (gateway) => {
    const app = fastify5({ http2: true });
    app.addHook("onRequest", async (_request, reply) => void reply.header("x-host", "set by a hook"));
    app.register(toFastifyPlugin(gateway));
    await app.listen({ port: 0, host: "127.0.0.1" });
    return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
  },
};

watchProcess();

describe.each(Object.keys(hosts))("HTTP/2 in %s", (name) => {
  let test: TestGateway;
  let host: { port: number; close(): Promise<unknown> } | undefined;
  let session: ClientHttp2Session;
  async function start(options: Partial<GatewayOptions> = {}): Promise<void> {
    test = await startTestGateway({ maxBodyBytes: 100_000, ...options });
    host = await hosts[name]?.(test.gateway);
    session = connect(`http://127.0.0.1:${host?.port}`);
  }
  async function stop(): Promise<void> {
    session.close();
    await host?.close();
    await test.close();
  }
  beforeEach(() => start());
  afterEach(stop);
  const request = (path: string, method = "GET", headers: IncomingHttpHeaders = {}): ClientHttp2Stream => {
    const stream = session.request(
      { ":path": path, ":method": method, ...authorized, ...headers },
      { endStream: method !== "POST" },
    );
    stream.setEncoding("utf8").on("error", () => {});
    return stream;
  };
  const post = (body = chatBody()) => {
    const stream = request("/v1/chat/completions", "POST", { "content-type": "application/json" });
    stream.end(body);
    return stream;
  };
  const answerOf = async (stream: ClientHttp2Stream) => {
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    let text = "";
    for await (const piece of stream) text += piece;
    return { headers, text };
  };

  it("answers whole, to GET, HEAD and POST", async () => {
    const models = await answerOf(request("/v1/models?x=1"));
    expect(models.headers).toMatchObject({ ":status": 200, "content-length": String(models.text.length) });
    expect(await answerOf(request("/v1/models", "HEAD"))).toMatchObject({ text: "", headers: { ":status": 200 } });
    const chat = await answerOf(post());
    expect(JSON.parse(chat.text)).toMatchObject({ model: "acme/small" });
    expect(chat.headers["x-host"]).toBe(name === "node:http2" ? undefined : "set by a hook");
    expect((await answerOf(post("{"))).headers[":status"]).toBe(400);
  });

  it("streams event by event", async () => {
    const gate = createGate();
    test.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
    const stream = post(chatBody({ stream: true }));
    gate.step(2);
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    expect(headers).toMatchObject({ ":status": 200, "content-type": "text/event-stream; charset=utf-8" });
    expect(headers.connection).toBeUndefined();
    let text = "";
    for await (const piece of stream) {
      text += piece;
      if (text.includes('"finish_reason":"stop"')) gate.open();
      else gate.step();
    }
    expect(text).toMatch(/^data: .*data: \[DONE\]\n\n$/s);
  });

  it("ends the call to the upstream when the client leaves before the answer", async () => {
    test.upstream.replyOnce(hangBeforeHeaders());
    const completed = test.nextEvent();
    const stream = post();
    const upstream = await test.upstream.nextRequest();
    stream.close(8);
    expect(await upstream.closed).toBe("broken");
    expect(await completed).toMatchObject({ status: 499, endReason: "client_gone" });
  });

  it.each(["stream", "session"])(
    "ends the call to the upstream when the client drops its %s mid-stream",
    async (what) => {
      const gate = createGate();
      test.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
      gate.step(2);
      const completed = test.nextEvent();
      const stream = post(chatBody({ stream: true }));
      await once(stream, "data");
      if (what === "stream") stream.close(8);
      else session.destroy();
      expect(await (await test.upstream.nextRequest()).closed).toBe("broken");
      expect(await completed).toMatchObject({ status: 200, endReason: "client_gone" });
    },
  );

  it("calls no upstream for a client that leaves while it is sending", async () => {
    const completed = test.nextEvent();
    // Without the length, Node's client ends its request properly before it drops it.
    const headers = { "content-type": "application/json", "content-length": "100" };
    const stream = request("/v1/chat/completions", "POST", headers);
    stream.write('{"model":');
    await answerOf(request("/healthz"));
    stream.close(8);
    expect(await completed).toMatchObject({ status: 499 });
    expect(test.upstream.requests).toEqual([]);
  });

  it.each([{ "content-length": "5000000" }, {}])(
    "answers 413 while the client is still sending (%o)",
    async (length) => {
      const stream = request("/v1/chat/completions", "POST", { "content-type": "application/json", ...length });
      const answer = answerOf(stream);
      stream.end(Buffer.alloc(5_000_000, " "));
      const { headers, text } = await answer;
      expect(headers[":status"]).toBe(413);
      expect(headers.connection).toBeUndefined();
      expect(text).toContain('"code":"request_too_large"');
      expect((await answerOf(request("/v1/models"))).headers[":status"]).toBe(200);
      await eventually(() => stream.closed);
    },
  );

  it("answers 408 to a body that does not end, and 401 to one that is not read", async () => {
    await stop();
    await start({ bodyTimeoutMs: 300 });
    const slow = request("/v1/chat/completions", "POST", { "content-type": "application/json" });
    slow.write('{"model":');
    const [timedOut] = (await once(slow, "response")) as [IncomingHttpHeaders];
    expect(timedOut[":status"]).toBe(408);
    // Whoever sends on is listened to for a while, so that the answer is not lost with the stream.
    slow.end();
    await slow.resume().toArray();
    const unknown = request("/v1/chat/completions", "POST", { authorization: "Bearer sk-wrong" });
    unknown.end(Buffer.alloc(1_000_000, " "));
    expect((await answerOf(unknown)).headers[":status"]).toBe(401);
    expect((await answerOf(post())).headers[":status"]).toBe(200);
  });

  it("stops the upstream while the client does not read", async () => {
    const flood = { written: 0 };
    test.upstream.replyOnce(floodOf(flood));
    const completed = test.nextEvent();
    const stream = post(chatBody({ stream: true }));
    await once(stream, "response");
    await stalled(flood);
    expect(flood.written).toBeLessThan(mostPieces);
    stream.close(8);
    expect(await completed).toMatchObject({ endReason: "client_gone" });
  });

  it("gives a client up that does not read", async () => {
    const impatient = await startTestGateway({ maxStallMs: 300, keepAliveMs: 20 });
    const own = await hosts[name]?.(impatient.gateway);
    const other = connect(`http://127.0.0.1:${own?.port}`);
    const flood = { written: 0 };
    impatient.upstream.replyOnce(floodOf(flood));
    const completed = impatient.nextEvent();
    const headers = { ":path": "/v1/chat/completions", ":method": "POST", "content-type": "application/json" };
    const stream = other.request({ ...headers, ...authorized });
    const closed = once(stream, "close");
    stream.end(chatBody({ stream: true }));
    await once(stream, "response");
    expect(await completed).toMatchObject({ endReason: "client_gone", stalled: true });
    expect(flood.written).toBeLessThan(mostPieces);
    stream.resume();
    await closed;
    other.close();
    await own?.close();
    await impatient.close();
  });
});
