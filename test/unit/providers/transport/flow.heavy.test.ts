import { createHash } from "node:crypto";
import { once } from "node:events";
import { expect, it } from "vitest";
import { readAll, upstreamCall } from "../../../../src/testing/upstream-operations/operation-rules.js";
import {
  chatChunks,
  createGate,
  eventStream,
  type FakeAnswer,
  rawAnswer,
  type StreamEnd,
  toEventBytes,
  wholeAnswer,
} from "../../../../src/testing.js";
import { describeTransports, elapse, nextRound, useProviders } from "../../../support/providers/provider-harness.js";

const piece = Buffer.alloc(64 * 1024, "0123456789abcdef");

/** Writes as fast as it may, counts the bytes, and reports when it had to wait for a while. */
function flood(pieces: number, written: { bytes: number; stalled: () => void }): FakeAnswer {
  return async (_request, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    for (let index = 0; index < pieces; index += 1) {
      written.bytes += piece.length;
      if (response.write(piece)) continue;
      const stall = setTimeout(written.stalled, 100);
      await once(response, "drain");
      clearTimeout(stall);
    }
    response.end();
  };
}

describeTransports("the flow of bytes", (harness) => {
  it("brings 10 MB unharmed", async () => {
    const body = Buffer.alloc(10 * 1024 * 1024);
    for (let index = 0; index < body.length; index += 4) body.writeUInt32LE((index * 2_654_435_761) >>> 0, index);
    harness.upstream.reply(wholeAnswer(body));
    const received = await readAll((await harness.provider().call(upstreamCall())).body);
    expect(createHash("sha256").update(received).digest("hex")).toBe(createHash("sha256").update(body).digest("hex"));
  });

  it("sends 10 MB unharmed", async () => {
    const body = Buffer.concat([
      Buffer.from('{"stream":false,"x":"'),
      Buffer.alloc(10 * 1024 * 1024, "ä"),
      Buffer.from('"}'),
    ]);
    await readAll((await harness.provider().call(upstreamCall({ body }))).body);
    expect(harness.upstream.lastRequest.body.equals(body)).toBe(true);
    expect(harness.upstream.lastRequest.headers["content-length"]).toBe(String(body.length));
  });

  it("sends a part of a larger buffer", async () => {
    const body = Buffer.from('xx{"stream":false}xx').subarray(2, -2);
    await readAll(
      (await harness.provider().call(upstreamCall({ body: new Uint8Array(body.buffer, body.byteOffset, body.length) })))
        .body,
    );
    expect(harness.upstream.lastRequest.body.toString()).toBe('{"stream":false}');
  });

  it("brings a stream that comes byte by byte", async () => {
    const chunks = chatChunks("Grüße aus 日本 🎌");
    harness.upstream.reply(eventStream(chunks, { pieceBytes: 1 }));
    const received = await readAll((await harness.provider().call(upstreamCall({ stream: true }))).body);
    expect(received.equals(Buffer.concat([...chunks, "data: [DONE]\n\n"].map(toEventBytes)))).toBe(true);
  });

  it("gives no empty pieces", async () => {
    harness.upstream.reply(eventStream(chatChunks("one two three four")));
    for await (const part of (await harness.provider().call(upstreamCall({ stream: true }))).body) {
      expect(part.length).toBeGreaterThan(0);
    }
  });

  it("holds the upstream back while nobody reads, and loses nothing", async () => {
    const pieces = 512;
    const written = { bytes: 0, stalled: () => {} };
    const stalled = new Promise<void>((resolve) => (written.stalled = resolve));
    harness.upstream.reply(flood(pieces, written));
    const { body } = await harness.provider().call(upstreamCall());
    const iterator = body[Symbol.asyncIterator]();
    let length = (await iterator.next()).value?.length ?? 0;
    await stalled;
    // What is on its way: the buffers of the two sockets and of the operating system.
    expect(written.bytes).toBeLessThan(16 * 1024 * 1024);
    for (let result = await iterator.next(); !result.done; result = await iterator.next())
      length += result.value.length;
    expect(length).toBe(pieces * piece.length);
  });

  it("uses one connection for one call after the other", async () => {
    const provider = harness.provider();
    for (let call = 0; call < 10; call += 1) {
      await readAll((await provider.call(upstreamCall({ stream: call % 2 === 0 }))).body);
      await nextRound();
    }
    expect(harness.upstream.requests).toHaveLength(10);
    expect(harness.upstream.acceptedSockets).toBe(1);
  });

  it("uses the connection again after an answer that nobody has read", async () => {
    const provider = harness.provider();
    const { body } = await provider.call(upstreamCall());
    await body[Symbol.asyncIterator]().return?.();
    for (let round = 0; round < 10; round += 1) await nextRound();
    await readAll((await provider.call(upstreamCall())).body);
    expect(harness.upstream.acceptedSockets).toBe(1);
  });

  it("uses the connection again after a large answer that was read in jerks", async () => {
    const provider = harness.provider();
    harness.upstream.replyOnce(wholeAnswer(Buffer.alloc(1024 * 1024, 97)));
    let length = 0;
    for await (const part of (await provider.call(upstreamCall())).body) {
      length += part.length;
      await elapse(2);
    }
    expect(length).toBe(1024 * 1024);
    await nextRound();
    await readAll((await provider.call(upstreamCall())).body);
    expect(harness.upstream.acceptedSockets).toBe(1);
  });
});

const undici = useProviders("undici");

it("brings what came in one tick as one piece, over undici", async () => {
  const events = Array.from({ length: 50 }, (_, index) => `data: ${index}\n\n`);
  const chunked = events.map((event) => `${event.length.toString(16)}\r\n${event}\r\n`).join("");
  const gate = createGate();
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  undici.upstream.reply(rawAnswer([head, `${chunked}0\r\n\r\n`], { gate }));
  const calling = undici.provider().call(upstreamCall({ stream: true }));
  gate.step();
  const iterator = (await calling).body[Symbol.asyncIterator]();
  const next = iterator.next();
  gate.open();
  expect(Buffer.from((await next).value ?? []).toString()).toBe(events.join(""));
  expect((await iterator.next()).done).toBe(true);
});

it("opens no more connections than it may, over undici", async () => {
  const gate = createGate();
  undici.upstream.reply(wholeAnswer("x", { gate }));
  const provider = undici.provider({ maxConnections: 2 });
  const calls = Array.from({ length: 6 }, async () => readAll((await provider.call(upstreamCall())).body));
  await undici.upstream.nextRequest();
  await undici.upstream.nextRequest();
  gate.open();
  await Promise.all(calls);
  expect(undici.upstream.requests).toHaveLength(6);
  expect(undici.upstream.acceptedSockets).toBe(2);
});

/** Answers of 100 kB, more than waits unread. With `connection: close` undici's own pause crashes the process, see UndiciSocket. */
const size = 100_000;
const heads: [string, string][] = [
  ["without a length", "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"],
  ["of known length on a last connection", `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${size}\r\n\r\n`],
  ["of known length", `HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`],
  ["too short for its length", `HTTP/1.1 200 OK\r\ncontent-length: ${size + 1}\r\n\r\n`],
  [
    "too short for its length on a last connection",
    `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${size + 1}\r\n\r\n`,
  ],
  ["of HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\n"],
];
const closings: StreamEnd[] = ["cut", "reset"];

it.each(heads.flatMap(([name, head]) => closings.map((end) => [name, end, head] as const)))(
  "is unharmed when the connection ends while an answer %s is held back (%s), over undici",
  async (name, end, head) => {
    const gate = createGate();
    undici.upstream.reply(rawAnswer([head, Buffer.alloc(size, 97)], { gate, end }));
    const calling = undici.provider().call(upstreamCall());
    gate.step(2);
    const { body } = await calling;
    // The bytes have arrived, and are held back; now comes the end.
    await elapse(20);
    gate.open();
    await elapse(20);
    const outcome = await readAll(body).then(
      (bytes) => bytes.length,
      (error: unknown) => error,
    );
    if (end === "cut" && !name.startsWith("too short")) expect(outcome).toBe(size);
    else if (end === "cut") expect(outcome).toMatchObject({ failure: "interrupted" });
    // A reset may swallow what the operating system had not handed over yet, but never looks like a complete answer.
    else if (outcome !== size) expect(outcome).toMatchObject({ failure: "interrupted" });
    await nextRound();
  },
);
