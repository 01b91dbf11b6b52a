import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, it } from "vitest";
import { honestChat } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { watchProcess } from "../adapters/process-watch.js";

watchProcess();

let test: TestGateway;
beforeEach(async () => {
  test = await startTestGateway();
});
afterEach(() => test.close());

/** A request whose body the host has made: a runtime checks only what it reads itself. */
function withPieces(pieces: readonly unknown[]): Request {
  const { url, headers } = chatRequest();
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const init = { method: "POST", headers, body, duplex: "half" };
  return new Request(url, init as RequestInit);
}

it.each<[string, unknown[]]>([
  ["texts", ['{"model":', '"acme/small"}']],
  ["one text", ["{}"]],
  ["nothing", [null, undefined]],
  ["numbers", [1, 2]],
  ["buffers without a view", [new ArrayBuffer(8), new ArrayBuffer(3)]],
  ["bytes, then a text", [Buffer.from("{"), "}"]],
])("a body whose pieces are %s is a bug of the host's: a 500, of which it is warned", async (_name, pieces) => {
  const response = await test.gateway.handler(withPieces(pieces));
  expect(response.status).toBe(500);
  expect(test.warnings).toMatchObject([{ code: "internal_error", cause: { cause: { name: "TypeError" } } }]);
  test.upstream.reply(honestChat());
  expect((await test.gateway.handler(chatRequest())).status).toBe(200);
});

it("bytes of another realm are bytes", async () => {
  test.upstream.reply(honestChat());
  const text = await chatRequest().text();
  const bytes: unknown = runInNewContext("Uint8Array.from(codes)", { codes: [...Buffer.from(text)] });
  expect((await test.gateway.handler(withPieces([bytes]))).status).toBe(200);
});
