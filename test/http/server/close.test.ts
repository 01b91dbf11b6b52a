import { describe, expect, it } from "vitest";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { chatChunks, createGate, eventStream, hangBeforeHeaders, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, getRequest, readEvents, startTestGateway } from "../../support/test-gateway.js";

describe("close", () => {
  it("refuses new calls, but stays alive to the health check", async () => {
    const test = await startTestGateway();
    await test.gateway.close();
    const response = await test.gateway.handler(chatRequest());
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await response.json()).toMatchObject({
      error: { code: "service_unavailable", type: "service_unavailable_error" },
    });
    expect((await test.gateway.handler(getRequest("/healthz"))).status).toBe(200);
    await test.close();
  });

  it("lets answers in progress come to their end, and resolves when they are settled", async () => {
    const test = await startTestGateway({ closeGraceMs: 10_000 });
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(2);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    const closing = test.gateway.close();
    expect(test.gateway.close()).toBe(closing);
    gate.open();
    expect((await readEvents(response)).at(-1)).toBe("[DONE]");
    await closing;
    expect(test.events).toMatchObject([{ endReason: "completed" }]);
    await test.close();
  });

  it.each([false, true])("may be called by the hook that is told of the call's end (stream: %s)", async (stream) => {
    const ends: string[] = [];
    const test = await startTestGateway({
      closeGraceMs: 0,
      onRequestCompleted: ({ endReason }) => {
        ends.push(String(endReason));
        void test.gateway.close();
      },
    });
    const response = await test.gateway.handler(chatRequest({ stream }));
    expect(response.status).toBe(200);
    await response.text();
    await test.gateway.close();
    expect(ends).toEqual(["completed"]);
    await test.close();
  });

  it("ends streams with an error event when their grace is over, and charges what was seen", async () => {
    const test = await startTestGateway({ closeGraceMs: 0 });
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(4);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    const events = readEvents(response);
    await test.upstream.nextRequest();
    await test.gateway.close();
    expect(JSON.parse((await events).at(-1) ?? "")).toMatchObject({ error: { code: "service_unavailable" } });
    expect(test.events).toMatchObject([{ status: 200, endReason: "shutdown", errorCode: "service_unavailable" }]);
    expect(await test.upstream.lastRequest.closed).toBe("broken");
    await test.close();
  });

  it("answers 503 to whole calls in progress when their grace is over, and charges nothing", async () => {
    const test = await startTestGateway({ closeGraceMs: 0 });
    test.upstream.reply(hangBeforeHeaders());
    const response = test.gateway.handler(chatRequest());
    await test.upstream.nextRequest();
    await test.gateway.close();
    expect((await response).status).toBe(503);
    expect((await response).headers.get("x-ratelimit-remaining-session")).toBe("100");
    expect(test.events).toMatchObject([{ status: 503, chargedMicro: 0, endReason: "shutdown" }]);
    await test.close();
  });

  it("settles streams whose client neither reads on nor leaves", async () => {
    const test = await startTestGateway({ closeGraceMs: 0 });
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    gate.step(4);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    await test.gateway.close();
    expect(test.events).toMatchObject([{ endReason: "shutdown" }]);
    await response.body?.cancel();
    expect(test.events).toHaveLength(1);
    await test.close();
  });

  it("waits for charges that the ledger has not taken yet", async () => {
    let failures = 2;
    const ledger = memoryCreditLedger();
    const settled: number[] = [];
    const flaky = await startTestGateway({
      ledger: {
        ...ledger,
        settle: async (lease, settlement) => {
          if (failures-- > 0) throw new Error("no connection");
          settled.push(settlement.amountMicro);
          return ledger.settle(lease, settlement);
        },
      },
    });
    flaky.upstream.reply(wholeAnswer());
    const response = await flaky.gateway.handler(chatRequest());
    expect(response.status).toBe(200);
    expect(settled).toEqual([]);
    await flaky.gateway.close();
    expect(settled).toEqual([39]);
    expect(flaky.warnings.map(({ code }) => code)).toContain("ledger_failed");
    await flaky.close();
  });
});
