import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { directCallOf } from "../../../../src/providers/direct-call.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import type { UpstreamProvider } from "../../../../src/providers/upstream-provider.js";
import { readAll, upstreamCall } from "../../../../src/testing/upstream-operations/operation-rules.js";
import { describeTransports } from "../../../support/providers/provider-harness.js";

const long = Buffer.alloc(5 * 1024 * 1024, "ä");
const pieces = [Buffer.from('{"model":"m","x":"'), long, Buffer.from('","y":"'), long, Buffer.from('"}')];
const whole = Buffer.concat(pieces);

function send(provider: UpstreamProvider, signal = new AbortController().signal) {
  const callDirectly = directCallOf(provider);
  if (callDirectly === undefined) throw new Error("It is one of the gateway's own.");
  return callDirectly({ ...upstreamCall(), body: pieces, notice: signal });
}

describeTransports("a body in pieces", (harness) => {
  it("arrives as it would in one, again and again over one connection", async () => {
    const provider = harness.provider();
    for (let call = 0; call < 3; call++) {
      await readAll((await send(provider)).body);
      expect(harness.upstream.lastRequest.body.equals(whole)).toBe(true);
      expect(harness.upstream.lastRequest.headers["content-length"]).toBe(String(whole.length));
      expect(harness.upstream.lastRequest.headers["transfer-encoding"]).toBeUndefined();
    }
  });
});

/** What a server does with a connection once the head of a request has come. */
async function connected(react: (socket: Socket, count: number) => void): Promise<UpstreamProvider> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.pause();
      react(socket, sockets.length - 1);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  const provider = openAICompatible({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "sk-upstream" });
  onTestFinished(async () => {
    await provider.close?.();
    // One that is paused never learns that the other side is gone.
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return provider;
}

const answer = (status: string) => `HTTP/1.1 ${status}\r\ncontent-length: 2\r\n\r\n{}`;

it("gets an answer that comes before the server has read it, and the next call goes out", async () => {
  const provider = await connected((socket, count) => {
    socket.write(answer(count === 0 ? "413 Payload Too Large" : "200 OK"));
    socket.resume();
  });
  const early = await send(provider);
  expect([early.status, (await readAll(early.body)).toString()]).toEqual([413, "{}"]);
  const next = await send(provider);
  expect([next.status, (await readAll(next.body)).toString()]).toEqual([200, "{}"]);
});

it("fails where the server breaks off in its middle, and the next call goes out", async () => {
  const provider = await connected((socket, count) => {
    if (count === 0) socket.destroy();
    else socket.resume().write(answer("200 OK"));
  });
  await expect(send(provider)).rejects.toMatchObject({ name: "UpstreamError", failure: "interrupted" });
  expect((await send(provider)).status).toBe(200);
});

it("can be aborted in its middle, and the next call goes out", async () => {
  const controller = new AbortController();
  const provider = await connected((socket, count) => {
    if (count === 0) controller.abort();
    else socket.resume().write(answer("200 OK"));
  });
  await expect(send(provider, controller.signal)).rejects.toMatchObject({ name: "UpstreamError", failure: "aborted" });
  expect((await send(provider)).status).toBe(200);
});
