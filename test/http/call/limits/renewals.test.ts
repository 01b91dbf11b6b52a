import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import type { RateLimit } from "../../../../src/ledger/limits.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatChunks, createGate, errorBody, eventStream, sampleUsage, wholeAnswer } from "../../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../../support/test-gateway.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const tokens: RateLimit = { id: "plan/tokens", kind: "tokens", take: 1, limit: 1, burst: 100_000 };

it.each(["acme/small", "acme/free"])(
  "what a dead process had not used comes back when its lease has expired; of %s",
  async (model) => {
    const ledger = memoryCreditLedger();
    const rates = { tokensPerMinute: { limit: 1, burst: 100_000 }, concurrent: 1 };
    const test = await startTestGateway({ ledger, plans: memoryPlanStore({ pro: { models: ["*"], rates } }) });
    const left = async () => {
      const limits = windowLimits({
        credits: { session: null, week: null, month: null },
        sessionMs: 60_000,
        now: Date.now(),
      });
      const { rates: states } = await ledger.balance("acct_pro", limits, { rates: [tokens] });
      return states?.[0]?.remaining ?? 0;
    };
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(2);
    const response = await test.gateway.handler(chatRequest({ model, stream: true, max_tokens: 1000 }));
    const reader = response.body?.getReader();
    await reader?.read();
    gate.step();
    await reader?.read();
    expect(await left()).toBeLessThan(99_000);
    await vi.advanceTimersByTimeAsync(20_000);
    // The clock goes on, but no timer fires any more.
    vi.setSystemTime(Date.now() + 60_001);
    const observed = 100_000 - (await left());
    expect(observed).toBeGreaterThan(0);
    expect(observed).toBeLessThan(100);
    test.upstream.reply(wholeAnswer());
    expect((await test.gateway.handler(chatRequest({ model }))).status).toBe(200);
    gate.open();
    await reader?.cancel();
    await test.close();
  },
);

it("what failed attempts have used does not come back when the process dies in the next one", async () => {
  const ledger = memoryCreditLedger();
  const { upstream } = smallModel;
  const test = await startTestGateway({
    ledger,
    models: [{ ...smallModel, upstream: [upstream, upstream].flat(), chargeFailedAttempts: true }],
    plans: memoryPlanStore({ pro: { models: ["*"], rates: { tokensPerMinute: { limit: 1, burst: 100_000 } } } }),
  });
  const gate = createGate();
  test.upstream.replyOnce(wholeAnswer({ ...errorBody("Oops."), usage: sampleUsage }, { status: 500 }));
  test.upstream.reply(wholeAnswer(undefined, { gate }));
  const response = test.gateway.handler(chatRequest({ max_tokens: 100 }));
  await vi.waitFor(() => expect(test.upstream.requests).toHaveLength(2));
  await vi.advanceTimersByTimeAsync(20_000);
  vi.setSystemTime(Date.now() + 60_001);
  const credits = { session: null, week: null, month: null };
  const limits = windowLimits({ credits, sessionMs: 60_000, now: Date.now() });
  const { rates } = await ledger.balance("acct_pro", limits, { rates: [tokens] });
  // One token has come back in the minute.
  expect(100_000 - (rates?.[0]?.remaining ?? 0)).toBeGreaterThanOrEqual(11);
  gate.open();
  expect((await response).status).toBe(200);
  await test.close();
});
