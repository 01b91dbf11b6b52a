import { gzipSync } from "node:zlib";
import { afterEach, expect, it } from "vitest";
import { chatAnswer, chatChunks } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

it.each([false, true])(
  "names the encoding of an upstream that compresses all the same, streamed: %s",
  async (stream) => {
    test = await startTestGateway();
    const { gateway, upstream, warnings } = test;
    const events = chatChunks("Hi").map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
    const text = stream ? `${events.join("")}data: [DONE]\n\n` : JSON.stringify(chatAnswer({ content: "Hi" }));
    upstream.reply(async (request, response) => {
      expect(request.headers["accept-encoding"]).toBe("identity");
      const type = stream ? "text/event-stream" : "application/json";
      response.writeHead(200, { "content-type": type, "Content-Encoding": "gzip" });
      response.end(gzipSync(text));
    });
    const response = await gateway.handler(chatRequest({ stream }));
    expect([response.status, await response.text()]).toEqual([502, expect.stringContaining("did not answer")]);
    expect(warnings.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('compressed its answer ("gzip")'),
    );
  },
);

it("takes an encoding of identity", async () => {
  test = await startTestGateway();
  test.upstream.reply(async (_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "identity" });
    response.end(JSON.stringify(chatAnswer({ content: "Hi" })));
  });
  expect((await test.gateway.handler(chatRequest())).status).toBe(200);
});
