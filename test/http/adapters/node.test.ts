import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { toNodeHandler } from "../../../src/node.js";
import {
  chatAnswer,
  chatChunks,
  createGate,
  eventStream,
  hangBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { type Host, listen } from "../../support/adapters/host.js";
import { nodeAdapter } from "../../support/adapters/node-adapter.js";
import { openRaw, postHead } from "../../support/adapters/raw-connection.js";
import { startTestGateway } from "../../support/test-gateway.js";
import { describeAdapter } from "./adapter-suite.js";
import { authorized, chatBody, chatCall, refusal } from "./client.js";

describeAdapter(nodeAdapter);

describe("node:http", () => {
  type Listener = (req: IncomingMessage, res: ServerResponse, next: () => void) => void | Promise<void>;
  const start = async (first: Listener = (_req, _res, next) => next(), basePath = "") => {
    const test = await startTestGateway({ basePath });
    const handler = toNodeHandler(test.gateway);
    const host: Host = await listen((req, res) => void first(req, res, () => handler(req, res)));
    const close = async () => {
      await host.close();
      await test.close();
    };
    return { test, host, close };
  };

  it.each([
    ["/api/ai", "/api/ai/v1/models", 200],
    ["/api/ai", "/api/ai/v1/models?x=/v1", 200],
    ["/api/ai", "/v1/models", 404],
    ["/api/ai", "/api/aiv1/models", 404],
    ["/api/ai", "/api/ai", 404],
    ["/api/ai", "/API/ai/v1/models", 404],
    ["/api/ai/", "/api/ai/v1/models", 200],
    ["/api/ai/v1", "/api/ai/v1/v1/models", 200],
    ["/api/ai/v1", "/api/ai/v10/v1/models", 404],
    ["", "/api/ai/v1/models", 404],
  ])("without next, basePath %j answers %s with %d", async (basePath, path, status) => {
    const { host, close } = await start(undefined, basePath);
    const response = await host.fetch(path, { headers: authorized });
    if (status === 404) expect(await refusal(response)).toEqual([404, "unknown_url"]);
    else expect(response.status).toBe(status);
    await close();
  });

  it("writes no body to HEAD, which a server may be told to refuse", async () => {
    const test = await startTestGateway();
    const server = createServer({ rejectNonStandardBodyWrites: true }, toNodeHandler(test.gateway));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const head = (init = {}) => fetch(`http://127.0.0.1:${port}/v1/models`, { method: "HEAD", ...init });
    expect(await head()).toMatchObject({ status: 401 });
    const response = await head({ headers: authorized });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get("content-length"))).toBeGreaterThan(100);
    server.closeAllConnections();
    server.close();
    await test.close();
  });

  it("hands a stand-in for the connection, which reads any text as UTF-8, no other text", async () => {
    const { test, host, close } = await start((_req, res, next) => {
      const { socket } = res;
      if (socket === null) throw new Error("It has no socket.");
      const write = socket.write.bind(socket) as (piece: string | Uint8Array) => boolean;
      socket.write = (piece: string | Uint8Array) => write(typeof piece === "string" ? Buffer.from(piece) : piece);
      next();
    });
    for (const content of ["Hello", "Grüße, 你好 👋"]) {
      test.upstream.replyOnce(wholeAnswer(chatAnswer({ content })));
      expect(JSON.stringify(await (await host.fetch("/v1/chat/completions", chatCall())).json())).toContain(content);
    }
    await close();
  });

  it("refuses a request whose body has been read by somebody who kept it", async () => {
    const { host, close } = await start(async (req, _res, next) => {
      for await (const _piece of req);
      next();
    });
    expect(await refusal(await host.fetch("/v1/chat/completions", chatCall()))).toEqual([400, "invalid_json"]);
    await close();
  });

  it.each([true, false])(
    "calls no upstream for a client that left before the gateway's turn (body read: %s)",
    async (isRead) => {
      let arrived = () => {};
      let left = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const departure = new Promise<void>((resolve) => {
        left = resolve;
      });
      const { test, host, close } = await start(async (req, res, next) => {
        if (isRead) {
          for await (const _piece of req);
          Object.assign(req, { body: JSON.parse(chatBody()) });
        }
        res.once("close", left);
        arrived();
        await departure;
        next();
      });
      const completed = test.nextEvent();
      const connection = await openRaw(host.origin);
      const body = chatBody();
      connection.send(postHead("/v1/chat/completions", `content-length: ${body.length}`) + body);
      await arrival;
      connection.socket.destroy();
      expect(await completed).toMatchObject({ status: 499 });
      expect(test.upstream.requests).toEqual([]);
      await close();
    },
  );

  it("breaks the connection when a header of the host makes an answer impossible", async () => {
    const { test, host, close } = await start((_req, res, next) => {
      res.writeHead = () => {
        throw new Error("not with me");
      };
      next();
    });
    for (const stream of [false, true]) {
      const completed = test.nextEvent();
      await expect(host.fetch("/v1/chat/completions", chatCall({ stream }))).rejects.toThrow("fetch failed");
      expect(await completed).toMatchObject({ endReason: stream ? "client_gone" : "completed" });
    }
    await close();
  });

  it("leaves an answer alone that the host has begun", async () => {
    let finish = () => {};
    const { test, host, close } = await start((_req, res, next) => {
      res.writeHead(202, { "content-type": "text/plain" });
      res.write("the host's ");
      finish = () => void res.end("answer");
      next();
    });
    for (const stream of [false, true]) {
      const completed = test.nextEvent();
      const response = await host.fetch("/v1/chat/completions", chatCall({ stream }));
      await completed;
      // Only now would the gateway write.
      await new Promise((resolve) => setImmediate(resolve));
      finish();
      expect([response.status, await response.text()]).toEqual([202, "the host's answer"]);
    }
    await close();
  });

  it("survives whatever the request and the response emit", async () => {
    let emit = () => {};
    const { test, host, close } = await start((req, res, next) => {
      emit = () => {
        req.emit("error", new Error("of the request"));
        res.emit("error", new Error("of the response"));
      };
      next();
    });
    const gate = createGate();
    test.upstream.replyOnce(wholeAnswer(undefined, { gate }));
    const answer = host.fetch("/v1/chat/completions", chatCall());
    await test.upstream.nextRequest();
    emit();
    gate.open();
    expect((await answer).status).toBe(200);
    await close();
  });

  it("survives a host that ends the gateway's stream", async () => {
    let end = () => {};
    const { test, host, close } = await start((_req, res, next) => {
      end = () => void res.end();
      next();
    });
    const gate = createGate();
    test.upstream.replyOnce(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(3);
    const completed = test.nextEvent();
    const response = await host.fetch("/v1/chat/completions", chatCall({ stream: true }));
    end();
    gate.open();
    await response.text();
    expect(await completed).toMatchObject({ status: 200 });
    await close();
  });

  it("closes while a call is waiting", async () => {
    const { test, host, close } = await start();
    test.upstream.replyOnce(hangBeforeHeaders());
    const answer = host.fetch("/v1/chat/completions", chatCall());
    await test.upstream.nextRequest();
    await test.gateway.close();
    expect(await refusal(await answer)).toEqual([503, "service_unavailable"]);
    await close();
  });
});
