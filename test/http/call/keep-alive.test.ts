import { afterEach, describe, expect, it } from "vitest";
import { chatChunks, createGate, eventStream, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

describe("a silent stream", () => {
  it("gets comments, also before its first event, and then goes on", async () => {
    test = await startTestGateway({ keepAliveMs: 20 });
    const gate = createGate();
    test.upstream.reply(eventStream(chatChunks("Hello"), { gate }));
    gate.step(1);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    expect(response.status).toBe(200);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe(": keep-alive\n\n");
    expect((await reader?.read())?.value).toBe(": keep-alive\n\n");
    gate.open();
    let rest = "";
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) rest += next.value;
    expect(rest).toContain("Hello");
    expect(rest.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  it("that fails after a comment ends with an error event", async () => {
    test = await startTestGateway({ keepAliveMs: 20 });
    const gate = createGate();
    test.upstream.reply(eventStream([], { gate, end: "cut" }));
    gate.step(1);
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    gate.open();
    expect(await response.text()).toMatch(/^(: keep-alive\n\n)+data: \{"error":/);
    expect(test.events).toMatchObject([{ status: 200, errorCode: "bad_gateway", chargedMicro: 0 }]);
  });
});

describe("hooks", () => {
  it("that throw harm nothing", async () => {
    test = await startTestGateway({
      onRequestCompleted: () => {
        throw new Error("hook");
      },
      onWarning: () => {
        throw new Error("another hook");
      },
    });
    expect((await test.gateway.handler(chatRequest())).status).toBe(200);
    expect(await (await test.gateway.handler(chatRequest({ stream: true }))).text()).toContain("[DONE]");
  });

  it("get the times of a call in order", async () => {
    test = await startTestGateway();
    test.upstream.reply(wholeAnswer());
    await test.gateway.handler(chatRequest());
    const { total, upstream, firstByte } = test.events[0]?.durations ?? { total: -1 };
    expect(upstream).toBeGreaterThan(0);
    expect(firstByte).toBeGreaterThan(upstream ?? Infinity);
    expect(total).toBeGreaterThanOrEqual(firstByte ?? Infinity);
  });
});
