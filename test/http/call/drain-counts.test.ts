import { afterEach, expect, it } from "vitest";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatChunks, createGate, eventStream } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

it("a drain is bounded by the count that is charged, not by bytes", async () => {
  const plans = memoryPlanStore({ pro: { models: ["acme/*"], disconnect: { maxMs: 60_000, maxTokens: 60 } } });
  test = await startTestGateway({ plans });
  const gate = createGate();
  // Words of ten letters: 20 of them are far more than 60 tokens where three bytes are taken for one.
  const text = "understand ".repeat(20);
  test.upstream.reply(
    eventStream(chatChunks(text, { usage: { prompt_tokens: 5, completion_tokens: 40, total_tokens: 45 } }), { gate }),
  );
  gate.step(3);
  const left = new AbortController();
  const ended = test.nextEvent();
  const response = await test.gateway.handler(new Request(chatRequest({ stream: true }), { signal: left.signal }));
  const reader = response.body?.getReader();
  await reader?.read();
  left.abort();
  await reader?.cancel().catch(() => {});
  gate.open();
  expect(await ended).toMatchObject({ disconnect: "drained", usageSource: "provider", chargedMicro: 5 + 400 });
});
