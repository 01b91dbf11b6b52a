import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { createGate, type FakeUpstream, type Gate, startFakeUpstream } from "../../../../src/testing.js";
import { bothServers, type SampleServer } from "../../../support/operations/responses/response-samples.js";
import { parseEvents, requestText } from "../../../support/operations/responses/responses-server.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

const keepAliveMs = 15_000;

let upstream: FakeUpstream;
let test: TestGateway;
let gate: Gate;
beforeEach(async () => {
  upstream = await startFakeUpstream();
  gate = createGate();
});
afterEach(async () => {
  vi.useRealTimers();
  await test.close();
  await upstream.close();
});

async function open(target: SampleServer, steps: number, options: { isBroken?: boolean } = {}) {
  const { operations } = target;
  test = await startTestGateway({
    keepAliveMs,
    providers: { fake: openAICompatible({ baseURL: upstream.url, operations }) },
  });
  upstream.reply(target.stream({ text: "Hello", ...options }, { gate }));
  gate.step(steps);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const request = new Request("http://gateway.test/v1/responses", {
    method: "POST",
    headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
    body: requestText({ stream: true }),
  });
  return test.gateway.handler(request);
}

/** Lets what is under way come to where it waits. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function silence(): Promise<void> {
  await settle();
  vi.advanceTimersByTime(keepAliveMs);
  await settle();
}

function readerOf(response: Response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  return async (isEnough: (text: string) => boolean) => {
    let text = "";
    while (!isEnough(text)) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      text += value;
    }
    return text;
  };
}

describe.each(bothServers)("a silent stream of $name", (target) => {
  it("gets comments before its first event, which some clients must read first", async () => {
    const opening = open(target, 1);
    await upstream.nextRequest();
    await silence();
    const response = await opening;
    expect(response.status).toBe(200);
    gate.open();
    const text = await readerOf(response)(() => false);
    expect(text).toMatch(/^(: keep-alive\n\n)+event: response\.created\n/);
    expect(parseEvents(text).at(-1)?.data.type).toBe("response.completed");
    expect(test.events).toMatchObject([{ endReason: "completed", chargedMicro: 39 }]);
  });

  it("gets events after that, as not every client goes by comments, and ends whole", async () => {
    const response = await open(target, 2 + target.pieces.beforeText);
    const read = readerOf(response);
    const begun = await read((text) => text.includes('"Hello"'));
    const kept: string[] = [];
    for (let time = 0; time < 2; time++) {
      const next = read((text) => text !== "");
      await silence();
      kept.push(await next);
    }
    const last = parseEvents(begun).at(-1)?.data.sequence_number ?? 0;
    const events = kept.flatMap(parseEvents).map(({ name, data }) => [name, data.type]);
    expect(events).toEqual([
      ["keepalive", "keepalive"],
      ["keepalive", "keepalive"],
    ]);
    gate.open();
    const rest = parseEvents(await read(() => false));
    expect(rest.at(-1)?.data).toMatchObject({ type: "response.completed", response: { usage: { total_tokens: 12 } } });
    const numbers = [...kept.flatMap(parseEvents), ...rest].map(({ data }) => data.sequence_number);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    expect(numbers[0]).toBeGreaterThanOrEqual(last);
  });

  it("that fails after comments alone begins before it fails", async () => {
    const opening = open(target, 1, { isBroken: true });
    await upstream.nextRequest();
    await silence();
    const response = await opening;
    await upstream.close();
    const events = parseEvents(await readerOf(response)(() => false));
    expect(events.slice(-2).map(({ data }) => data.type)).toEqual(["error", "response.failed"]);
    expect(events[0]?.data.type).toBe("response.created");
    expect(test.events).toMatchObject([{ status: 200, errorCode: "bad_gateway", chargedMicro: 0 }]);
    upstream = await startFakeUpstream();
  });
});
