import { expect, it, onTestFinished, vi } from "vitest";
import { CallSettlement } from "../../../src/call/call-settlement.js";
import { toFetchHandler } from "../../../src/fetch.js";
import { chatChunks, eventStream } from "../../../src/testing.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";

it("settles a call once whose client leaves as its host is told that it has ended", async () => {
  const settle = vi.spyOn(CallSettlement.prototype, "settle");
  let leave: (() => void) | undefined;
  let told = 0;
  const test = await startTestGateway({
    onRequestCompleted() {
      told++;
      leave?.();
    },
  });
  onTestFinished(async () => {
    settle.mockRestore();
    await test.close();
  });
  test.upstream.reply(eventStream(chatChunks()));
  const response = await toFetchHandler(test.gateway)(chatRequest({ stream: true }));
  expect(response.status, await (response.ok ? "" : response.text())).toBe(200);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  leave = () => void reader.cancel();
  while (!(await reader.read()).done);
  await test.gateway.idle();
  expect([settle.mock.calls.length, told]).toEqual([1, 1]);
});
