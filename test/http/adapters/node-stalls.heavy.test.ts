import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { RequestCompleted } from "../../../src/events/request-completed.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { toNodeHandler } from "../../../src/node.js";
import { chatAnswer, chatChunks, createGate, eventStream, toEventBytes, wholeAnswer } from "../../../src/testing.js";
import { openRaw, postHead } from "../../support/adapters/raw-connection.js";
import { startTestGateway } from "../../support/test-gateway.js";
import { chatBody, eventually } from "./client.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const post = (body: Record<string, unknown>) => {
  const text = chatBody(body);
  return postHead("/v1/chat/completions", `content-length: ${text.length}`) + text;
};

/** A server whose responses the test can look at, and a connection to it. */
async function open(options: Partial<GatewayOptions>) {
  const test = await startTestGateway(options);
  const handler = toNodeHandler(test.gateway);
  const responses: ServerResponse[] = [];
  const server = createServer((req, res) => {
    responses.push(res);
    handler(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const connection = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closers.push(
    () => test.close(),
    () => new Promise((resolve) => server.close(resolve)),
    async () => connection.socket.destroy(),
  );
  return { ...test, connection, responses };
}

const isFull = (res: ServerResponse | undefined) => res !== undefined && res.writableLength > 0;

describe("a client that takes nothing", () => {
  it("is given up although it is still sent comments", async () => {
    let told = (_event: RequestCompleted & { isFull: boolean }) => {};
    const completed = new Promise<RequestCompleted & { isFull: boolean }>((resolve) => {
      told = resolve;
    });
    const test = await open({
      maxStallMs: 400,
      keepAliveMs: 30,
      // Whether the gateway had to wait for the client when it gave it up.
      onRequestCompleted: (event) => told({ ...event, isFull: test.responses[0]?.socket?.writableNeedDrain === true }),
    });
    let waiting = 0;
    const [, text] = chatChunks("x".repeat(1500)).map(toEventBytes);
    test.upstream.replyOnce(async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      // Until the operating system's buffers are full, and the first bytes lie in the gateway.
      for (let full = 0; full < 3 && !response.destroyed; full = isFull(test.responses[0]) ? full + 1 : 0) {
        if (!isFull(test.responses[0])) for (let count = 0; count < 4; count++) response.write(text);
        await pause(1);
      }
      waiting = test.responses[0]?.writableLength ?? 0;
    });
    test.connection.socket.pause();
    test.connection.send(post({ stream: true }));
    await eventually(() => waiting > 0, 30_000);
    await eventually(() => (test.responses[0]?.writableLength ?? 0) > waiting);
    expect(await completed).toMatchObject({
      endReason: "client_gone",
      stalled: true,
      usageSource: "partial",
      isFull: false,
    });
    expect(test.responses[0]?.destroyed).toBe(true);
    expect(await test.upstream.lastRequest.closed).toBe("broken");
  });

  it("of a long whole answer is given up, too", async () => {
    const test = await open({ maxStallMs: 300 });
    test.upstream.replyOnce(wholeAnswer(chatAnswer({ content: "x".repeat(12_000_000) })));
    test.connection.socket.pause();
    test.connection.send(post({}));
    await eventually(() => isFull(test.responses[0]));
    await eventually(() => test.responses[0]?.destroyed === true);
    expect(test.events).toMatchObject([{ status: 200, endReason: "completed" }]);
    test.connection.socket.resume();
    expect((await test.connection.closed).length).toBeLessThan(12_000_000);
  });
});

describe("a client that takes its time", () => {
  it("gets all of a long whole answer", async () => {
    const test = await open({ maxStallMs: 400 });
    const content = `${"x".repeat(6_000_000)}ü`;
    test.upstream.replyOnce(wholeAnswer(chatAnswer({ content })));
    const { connection } = test;
    const { socket } = connection;
    connection.send(post({}).replace("host:", "connection: close\r\nhost:"));
    let took = 0;
    socket.on("data", (piece: string) => {
      took += piece.length;
      if (took < 300_000) return;
      took = 0;
      socket.pause();
      setTimeout(() => socket.resume(), 30);
    });
    const received = Buffer.from(await connection.closed, "latin1").toString();
    const [head = "", body = ""] = received.split("\r\n\r\n");
    expect(JSON.parse(body)).toMatchObject({ choices: [{ message: { content } }] });
    expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
    expect(head).not.toContain("transfer-encoding");
  });

  it("is not one whose answer has to wait for the one before it on its connection", async () => {
    const test = await open({ maxStallMs: 150 });
    const gate = createGate();
    test.upstream.replyOnce(eventStream(chatChunks("first"), { gate }));
    test.upstream.replyOnce(eventStream(chatChunks("second".repeat(50_000))));
    test.connection.send(post({ stream: true }) + post({ stream: true }));
    await eventually(() => test.upstream.requests.length === 2);
    await pause(450);
    expect(test.events).toEqual([]);
    gate.open();
    await test.connection.until((received) => received.split("data: [DONE]").length === 3);
    expect(test.events).toMatchObject([{ endReason: "completed" }, { endReason: "completed" }]);
  });
});
