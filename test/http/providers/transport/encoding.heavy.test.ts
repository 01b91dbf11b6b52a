import { brotliCompressSync, constants, createGzip, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import { chatAnswer, chatChunks, type FakeAnswer, sampleUsage } from "../../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

const compress: Readonly<Record<string, (text: string) => Buffer>> = {
  gzip: gzipSync,
  "x-gzip": gzipSync,
  GZIP: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
};

const events = [...chatChunks("Hi"), { ...chatChunks("Hi")[0], choices: [], usage: sampleUsage }];
const streamText = `${events.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`;
const wholeText = JSON.stringify(chatAnswer({ content: "Hi" }));

const typed = (stream: boolean) => (stream ? "text/event-stream" : "application/json");

/** Answers with these bytes, whatever it was asked to accept. */
function encoded(bytes: Buffer, encoding: string, stream = false, status = 200): FakeAnswer {
  return async (request, response) => {
    expect(request.headers["accept-encoding"]).toBe("identity");
    response.writeHead(status, { "content-type": typed(stream), "Content-Encoding": encoding });
    response.end(bytes);
  };
}

describe("an upstream that compresses although it was asked not to", () => {
  it.each(Object.keys(compress).flatMap((name) => [false, true].map((stream) => [name, stream] as const)))(
    "is read as if it did not: %s, streamed: %s",
    async (name, stream) => {
      test = await startTestGateway();
      const { gateway, upstream, events: ended } = test;
      upstream.reply(encoded((compress[name] as typeof gzipSync)(stream ? streamText : wholeText), name, stream));
      const response = await gateway.handler(chatRequest({ stream }));
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(response.headers.get("content-encoding")).toBeNull();
      expect(text).toContain(stream ? '"content":"Hi"' : '"Hi"');
      if (stream) expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
      // 9 tokens of input and 3 of output, as its own usage says.
      expect(ended).toMatchObject([{ usageSource: "provider", chargedMicro: 39 }]);
    },
  );

  it("is read as it comes: an event does not wait for the next", async () => {
    test = await startTestGateway();
    const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
    test.upstream.reply(async (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      gzip.pipe(response);
      gzip.write(`data: ${JSON.stringify(events[0])}\n\ndata: ${JSON.stringify(events[1])}\n\n`);
    });
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = "";
    while (!text.includes("Hi")) text += Buffer.from((await reader.read()).value as Uint8Array).toString();
    gzip.end(`data: ${JSON.stringify(events[2])}\n\ndata: [DONE]\n\n`);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString();
    }
    expect(text).toContain("[DONE]");
  });

  it("tells the client what is wrong with its request", async () => {
    test = await startTestGateway();
    const error = { message: "bad temperature", type: "invalid_request_error", param: "temperature", code: "bad" };
    test.upstream.reply(encoded(gzipSync(JSON.stringify({ error })), "gzip", false, 400));
    const response = await test.gateway.handler(chatRequest());
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: "temperature" } }]);
  });

  it("is bounded by what the answer becomes: a bomb is a 502, and is not read to its end", async () => {
    test = await startTestGateway({ maxResponseBytes: 1_000_000, maxEventBytes: 100_000 });
    const bomb = gzipSync(Buffer.alloc(100_000_000, " "), { level: 9 });
    for (const stream of [false, true]) {
      const before = process.memoryUsage().arrayBuffers;
      test.upstream.reply(encoded(bomb, "gzip", stream));
      const response = await test.gateway.handler(chatRequest({ stream }));
      const text = await response.text();
      expect(stream ? text : response.status).toEqual(stream ? expect.stringContaining("error") : 502);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    }
  });

  it.each<[string, Buffer]>([
    ["no gzip", Buffer.from(wholeText)],
    ["cut off", gzipSync(wholeText).subarray(0, 40)],
    ["nothing", Buffer.alloc(0)],
  ])("and says so wrongly is a 502: %s", async (_name, bytes) => {
    test = await startTestGateway();
    test.upstream.reply(encoded(bytes, "gzip"));
    expect((await test.gateway.handler(chatRequest())).status).toBe(502);
    expect(test.events).toMatchObject([{ chargedMicro: 0 }]);
  });

  it("is left when its client leaves", async () => {
    test = await startTestGateway();
    const closed = vi.fn();
    test.upstream.reply(async (_request, response) => {
      response.on("close", closed);
      response.writeHead(200, { "content-type": "text/event-stream", "content-encoding": "gzip" });
      const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
      gzip.pipe(response);
      gzip.write(`data: ${JSON.stringify(events[0])}\n\ndata: ${JSON.stringify(events[1])}\n\n`);
    });
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    await vi.waitFor(() => expect(closed).toHaveBeenCalled());
  });
});

it.each(["zstd", "gzip, br", "aws-chunked"])("an encoding that nothing here decodes is named: %s", async (encoding) => {
  test = await startTestGateway();
  const { gateway, upstream, warnings } = test;
  upstream.reply(encoded(gzipSync(wholeText), encoding));
  const response = await gateway.handler(chatRequest());
  expect([response.status, await response.text()]).toEqual([502, expect.stringContaining("did not answer")]);
  expect(warnings.map(({ message }) => message)).toContainEqual(
    expect.stringContaining(`compressed its answer ("${encoding}")`),
  );
});

it("takes an encoding of identity", async () => {
  test = await startTestGateway();
  test.upstream.reply(encoded(Buffer.from(wholeText), "identity"));
  expect((await test.gateway.handler(chatRequest())).status).toBe(200);
});
