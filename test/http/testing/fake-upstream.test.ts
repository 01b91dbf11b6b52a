import { request } from "node:http";
import { expect, it } from "vitest";
import { chatChunks, eventStream, startFakeUpstream } from "../../../src/testing.js";

it("writes a long stream to a slow reader without a listener for each piece that has to wait", async () => {
  const warnings: Error[] = [];
  const take = (warning: Error) => void warnings.push(warning);
  process.on("warning", take);
  const upstream = await startFakeUpstream();
  const pieces = 60;
  const [, text = ""] = chatChunks("x".repeat(256 * 1024));
  upstream.reply(eventStream(Array.from({ length: pieces }, () => text)));
  const { hostname, port } = new URL(upstream.url);
  const received = await new Promise<number>((resolve, reject) => {
    const call = request({ hostname, port, method: "POST", path: "/v1/chat/completions" }, async (response) => {
      let length = 0;
      for await (const piece of response) {
        length += piece.length;
        await new Promise((next) => setImmediate(next));
      }
      resolve(length);
    });
    call.on("error", reject).end("{}");
  });
  expect(received).toBeGreaterThan(pieces * 256 * 1024);
  await upstream.close();
  process.off("warning", take);
  expect(warnings).toEqual([]);
});
