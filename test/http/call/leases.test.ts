import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { chatChunks, createGate, errorBody, eventStream, sampleUsage, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function start(model: Partial<Model> = {}) {
  const ledger = memoryCreditLedger();
  const test = await startTestGateway({ ledger, models: [{ ...smallModel, ...model }] });
  const session = async () => {
    const credits = { session: 100e6, week: 500e6, month: 1500e6 };
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
    return (await ledger.balance("acct_pro", limits)).windows.session;
  };
  return { ...test, session };
}

describe("the stock that a long call holds", () => {
  it("stays held while the upstream thinks, for whole answers", async () => {
    const test = await start();
    const gate = createGate();
    test.upstream.reply(wholeAnswer(undefined, { gate }));
    const response = test.gateway.handler(chatRequest({ max_tokens: 100 }));
    await test.upstream.nextRequest();
    await vi.advanceTimersByTimeAsync(600_000);
    expect((await test.session()).heldMicro).toBeGreaterThan(0);
    expect((await test.session()).usedMicro).toBe(0);
    gate.open();
    expect((await response).status).toBe(200);
    expect(await test.session()).toMatchObject({ usedMicro: 39, heldMicro: 0 });
    await test.close();
  });

  it("grows into a charge with the stream, should the process die", async () => {
    const test = await start();
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(2);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    const reader = response.body?.getReader();
    await reader?.read();
    gate.step();
    await reader?.read();
    await vi.advanceTimersByTimeAsync(20_000);
    // The clock goes on, but no timer fires any more.
    vi.setSystemTime(Date.now() + 60_001);
    const { usedMicro, heldMicro } = await test.session();
    expect(heldMicro).toBe(0);
    // The prompt's estimate, and "Hello" at 10 micro-credits a token.
    expect(usedMicro).toBeGreaterThan(20);
    gate.open();
    await reader?.cancel();
    await test.close();
  });

  it("grows by what failed attempts are charged, too, should the process die in the next one", async () => {
    const { upstream } = smallModel;
    const test = await start({ upstream: [upstream, upstream].flat(), chargeFailedAttempts: true });
    const gate = createGate();
    test.upstream.replyOnce(wholeAnswer({ ...errorBody("Oops."), usage: sampleUsage }, { status: 500 }));
    test.upstream.reply(wholeAnswer(undefined, { gate }));
    const response = test.gateway.handler(chatRequest({ max_tokens: 100 }));
    await vi.waitFor(() => expect(test.upstream.requests).toHaveLength(2));
    await vi.advanceTimersByTimeAsync(20_000);
    vi.setSystemTime(Date.now() + 60_001);
    expect(await test.session()).toMatchObject({ usedMicro: 39, heldMicro: 0 });
    gate.open();
    expect((await response).status).toBe(200);
    expect(await test.session()).toMatchObject({ usedMicro: 78, heldMicro: 0 });
    await test.close();
  });
});

it("warns, by the request's id, of a settlement that the ledger could not tell from a duplicate", async () => {
  const ledger = memoryCreditLedger();
  const test = await startTestGateway({
    ledger: { ...ledger, settle: async (...given) => ({ ...(await ledger.settle(...given)), status: "unresolved" }) },
  });
  const response = await test.gateway.handler(chatRequest());
  expect(response.status).toBe(200);
  expect(test.warnings).toMatchObject([{ code: "charge_unresolved", requestId: response.headers.get("x-request-id") }]);
  await test.close();
});
