import { expect, it, onTestFinished, vi } from "vitest";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { chatAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

it("counts a target's time until its response has come, and not while the gateway reads it", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  // So long that it is read in turns.
  const long = Buffer.from(JSON.stringify(chatAnswer({ content: "word ".repeat(400_000) })));
  const first: UpstreamProvider = {
    async call() {
      async function* body() {
        yield long;
        setImmediate(() => vi.advanceTimersByTime(1_000));
      }
      return { status: 200, headers: { "content-type": "application/json" }, body: body() };
    },
  };
  const second: UpstreamProvider = { call: () => Promise.reject(new Error("Nobody needs it.")) };
  const upstream = [
    { provider: "first", model: "m", timeoutMs: 1_000 },
    { provider: "second", model: "m" },
  ];
  const test = await startTestGateway({ models: [{ ...smallModel, upstream }], providers: { first, second } });
  onTestFinished(() => test.close());
  const response = await test.gateway.handler(chatRequest());
  expect(response.status).toBe(200);
  expect(test.events).toMatchObject([{ attempts: [{ outcome: "completed" }] }]);
});
