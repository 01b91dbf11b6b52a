import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { readAll, readBytes, upstreamCall } from "../../../../src/testing/upstream-operations/operation-rules.js";
import {
  createGate,
  eventStream,
  hangAfterHeaders,
  hangBeforeHeaders,
  rawAnswer,
  wholeAnswer,
} from "../../../../src/testing.js";
import { describeTransports, elapse, useProviders } from "../../../support/providers/provider-harness.js";

const timedOut = { name: "UpstreamError", failure: "timeout" };

/** It takes 80 ms at least, and not the half second that undici's own timers would need; a loaded machine gets more tries. */
async function expectInTime(action: () => Promise<unknown>): Promise<void> {
  for (let run = 1; ; run += 1) {
    const start = performance.now();
    await action();
    const took = performance.now() - start;
    expect(took).toBeGreaterThanOrEqual(79);
    if (run === 10) expect(took).toBeLessThan(400);
    if (took < 400) return;
  }
}

describeTransports("timeouts", (harness) => {
  it("gives up when the answer does not begin in time", async () => {
    harness.upstream.reply(hangBeforeHeaders());
    const provider = harness.provider({ firstByteTimeoutMs: 80 });
    await expectInTime(() => expect(provider.call(upstreamCall())).rejects.toMatchObject(timedOut));
    // What has come so far, and not the latest: that one may have given up before it was sent.
    for (const { closed } of harness.upstream.requests) expect(await closed).toBe("broken");
  });

  it("gives up when the headers come too slowly", async () => {
    harness.upstream.reply(rawAnswer(["HTTP/1.1 200 OK\r\ncontent-le"], { end: "hang" }));
    const request = harness.upstream.nextRequest();
    const call = harness.provider({ firstByteTimeoutMs: 250 }).call(upstreamCall());
    await expect(call).rejects.toMatchObject(timedOut);
    expect(await (await request).closed).toBe("broken");
  });

  it("gives up when no body follows the headers", async () => {
    harness.upstream.reply(hangAfterHeaders());
    const provider = harness.provider({ idleTimeoutMs: 80 });
    await expectInTime(async () => {
      const answer = await provider.call(upstreamCall());
      await expect(readAll(answer.body)).rejects.toMatchObject(timedOut);
    });
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
  });

  it("gives up when the body falls silent, after all that has arrived", async () => {
    harness.upstream.reply(eventStream(["data: 1\n\n", "data: 2\n\n"], { end: "hang" }));
    const answer = await harness.provider({ idleTimeoutMs: 80 }).call(upstreamCall({ stream: true }));
    const iterator = answer.body[Symbol.asyncIterator]();
    expect((await readBytes(iterator, 18)).toString()).toBe("data: 1\n\ndata: 2\n\n");
    await expect(iterator.next()).rejects.toMatchObject(timedOut);
    expect(await harness.upstream.lastRequest.closed).toBe("broken");
  });

  it("lets a stream be longer than any timeout", async () => {
    const gate = createGate();
    harness.upstream.reply(eventStream(Array(6).fill("data: x\n\n"), { gate }));
    const provider = harness.provider({ timeoutMs: 200 });
    const reading = provider.call(upstreamCall({ stream: true })).then(({ body }) => readAll(body));
    for (let step = 0; step < 9; step += 1) {
      await elapse(50);
      gate.step();
    }
    expect((await reading).toString()).toContain("[DONE]");
  });

  it("takes the answer that comes just in time after a long thought", async () => {
    const gate = createGate();
    harness.upstream.reply(wholeAnswer("late", { gate }));
    const calling = harness.provider({ firstByteTimeoutMs: 500, idleTimeoutMs: 50 }).call(upstreamCall());
    await elapse(150);
    gate.open();
    expect((await readAll((await calling).body)).toString()).toBe("late");
  });

  it("does not count the time in which the reader is slow", async () => {
    const size = 4 * 1024 * 1024;
    harness.upstream.reply(wholeAnswer(Buffer.alloc(size, 97)));
    const answer = await harness.provider({ idleTimeoutMs: 60 }).call(upstreamCall());
    const iterator = answer.body[Symbol.asyncIterator]();
    let length = (await iterator.next()).value?.length ?? 0;
    await elapse(200);
    for (let result = await iterator.next(); !result.done; result = await iterator.next())
      length += result.value.length;
    expect(length).toBe(size);
  });

  it("leaves no timer behind that fires later", async () => {
    const provider = harness.provider({ timeoutMs: 250 });
    const answer = await provider.call(upstreamCall());
    await elapse(300);
    expect((await readAll(answer.body)).length).toBeGreaterThan(0);
    await elapse(300);
    expect((await readAll((await provider.call(upstreamCall())).body)).length).toBeGreaterThan(0);
  });
});

const undici = useProviders("undici");
let silentServer: Server | undefined;
const silentSockets: Socket[] = [];

/** Accepts TCP connections and sends nothing, so that no TLS handshake comes to an end. */
async function startSilentServer(): Promise<string> {
  const server = createServer((socket) => silentSockets.push(socket.on("error", () => {})));
  silentServer = server;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `https://127.0.0.1:${address.port}/v1`;
}

afterEach(() => {
  silentServer?.close();
  silentServer = undefined;
  for (const socket of silentSockets.splice(0)) socket.destroy();
});

it("gives up when the connection does not come up in time, over undici", async () => {
  const provider = undici.provider({ baseURL: await startSilentServer(), connectTimeoutMs: 80 });
  await expectInTime(() => expect(provider.call(upstreamCall())).rejects.toMatchObject(timedOut));
  await Promise.all(silentSockets.map((socket) => new Promise((resolve) => socket.once("close", resolve).resume())));
});

it("cancels while it connects, over undici", async () => {
  const provider = undici.provider({ baseURL: await startSilentServer() });
  const controller = new AbortController();
  const calling = provider.call(upstreamCall({ signal: controller.signal }));
  while (silentSockets.length === 0) await elapse(1);
  const closed = new Promise((resolve) => silentSockets[0]?.once("close", resolve).resume());
  controller.abort();
  await expect(calling).rejects.toMatchObject({ failure: "aborted" });
  await closed;
});

it("counts connecting as part of the first byte, over undici", async () => {
  const provider = undici.provider({ baseURL: await startSilentServer(), firstByteTimeoutMs: 80 });
  await expect(provider.call(upstreamCall())).rejects.toMatchObject(timedOut);
});

it("counts waiting for a connection as part of the first byte, over undici", async () => {
  const { upstream } = undici;
  const gate = createGate();
  upstream.replyOnce(eventStream(["data: 1\n\n"], { gate }));
  const provider = undici.provider({ maxConnections: 1, firstByteTimeoutMs: 600, idleTimeoutMs: 60_000 });
  const calling = provider.call(upstreamCall({ stream: true }));
  gate.step();
  const first = await calling;
  // The only connection is taken for longer than the second call may wait.
  await expect(provider.call(upstreamCall())).rejects.toMatchObject(timedOut);
  gate.open();
  expect((await readAll(first.body)).toString()).toBe("data: 1\n\ndata: [DONE]\n\n");
  upstream.reply(wholeAnswer("free again"));
  expect((await readAll((await provider.call(upstreamCall())).body)).toString()).toBe("free again");
  // The call that gave up in the queue was never sent.
  expect(upstream.requests).toHaveLength(2);
  expect(upstream.acceptedSockets).toBe(1);
});
