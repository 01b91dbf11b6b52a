import { createServer } from "node:net";
import { expect, it } from "vitest";
import { UpstreamError } from "../../../src/providers/upstream-provider.js";
import { readAll, readBytes, upstreamCall } from "../../../src/testing/upstream-operations/operation-rules.js";
import { createGate, rawAnswer } from "../../../src/testing.js";
import { describeTransports, nextRound } from "../../support/providers/provider-harness.js";

const interrupted = { name: "UpstreamError", failure: "interrupted" };
const unreachable = { name: "UpstreamError", failure: "unreachable" };

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

describeTransports("failures", (harness) => {
  it("cannot reach a port where nobody listens", async () => {
    const provider = harness.provider({ baseURL: `http://127.0.0.1:${await findFreePort()}/v1` });
    const error = await provider.call(upstreamCall()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UpstreamError);
    expect(error).toMatchObject({ ...unreachable, message: expect.stringContaining("ECONNREFUSED") });
    expect(error).toMatchObject({ cause: expect.any(Error) });
    // And again: the failed connection leaves nothing behind.
    await expect(provider.call(upstreamCall())).rejects.toMatchObject(unreachable);
  });

  it("cannot reach a host that does not exist", async () => {
    const provider = harness.provider({ baseURL: "http://nowhere.invalid/v1" });
    await expect(provider.call(upstreamCall())).rejects.toMatchObject(unreachable);
  });

  it("cannot reach a server that does not speak TLS", async () => {
    const provider = harness.provider({ baseURL: harness.upstream.url.replace("http:", "https:") });
    await expect(provider.call(upstreamCall())).rejects.toMatchObject(unreachable);
  });

  it.each([
    ["garbage", ["SSH-2.0-OpenSSH_9.2\r\n\r\n"]],
    ["no answer at all", []],
    ["half a header", ["HTTP/1.1 200 OK\r\ncontent-type: text"]],
    ["a conflict of lengths", ["HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello"]],
    [
      "an upgrade that nobody asked for",
      ["HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
    ],
  ])("is interrupted by %s", async (_name, pieces) => {
    harness.upstream.reply(rawAnswer(pieces));
    await expect(harness.provider().call(upstreamCall())).rejects.toMatchObject(interrupted);
  });

  it.each([
    ["a body shorter than its length", ["HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello"]],
    ["a chunked body without end", ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"]],
    ["garbage within a chunked body", ["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n"]],
  ])("is interrupted by %s, after what has arrived", async (_name, pieces) => {
    const gate = createGate();
    harness.upstream.reply(rawAnswer(pieces, { gate, end: "cut" }));
    const calling = harness.provider().call(upstreamCall());
    gate.step(1);
    const iterator = (await calling).body[Symbol.asyncIterator]();
    const read = readBytes(iterator, 5);
    gate.open();
    // The built-in fetch may drop what it had when the error comes in the same breath.
    await read.then(
      async (bytes) => {
        expect(bytes.toString()).toBe("hello");
        await expect(iterator.next()).rejects.toMatchObject(interrupted);
      },
      (error: unknown) => expect(error).toMatchObject(interrupted),
    );
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it("is interrupted by a reset in the middle", async () => {
    const gate = createGate();
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
    harness.upstream.reply(rawAnswer([head], { gate, end: "reset" }));
    const calling = harness.provider().call(upstreamCall());
    gate.step(1);
    const iterator = (await calling).body[Symbol.asyncIterator]();
    expect((await readBytes(iterator, 5)).toString()).toBe("hello");
    gate.open();
    await expect(iterator.next()).rejects.toMatchObject(interrupted);
  });

  it("recovers from a connection that the upstream closed while it was idle", async () => {
    const provider = harness.provider();
    await readAll((await provider.call(upstreamCall())).body);
    harness.upstream.lastRequest.socket.destroy();
    await new Promise((resolve) => harness.upstream.lastRequest.socket.once("close", resolve));
    for (let round = 0; round < 5; round += 1) await nextRound();
    expect((await readAll((await provider.call(upstreamCall())).body)).length).toBeGreaterThan(0);
    expect(harness.upstream.acceptedSockets).toBe(2);
  });

  it("reads a body that ends with the connection", async () => {
    harness.upstream.reply(rawAnswer(["HTTP/1.0 200 OK\r\n\r\nhel", "lo"]));
    expect((await readAll((await harness.provider().call(upstreamCall())).body)).toString()).toBe("hello");
  });

  it("does not mind informational answers and trailers", async () => {
    harness.upstream.reply(
      rawAnswer([
        "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntrailer: x-late\r\n\r\n5\r\nhello\r\n0\r\nx-late: 1\r\n\r\n",
      ]),
    );
    const answer = await harness.provider().call(upstreamCall());
    expect(answer.status).toBe(200);
    expect(answer.headers.link).toBeUndefined();
    expect((await readAll(answer.body)).toString()).toBe("hello");
  });
});
