import { afterEach, describe, expect, it, vi } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { chatAnswer, createGate, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const start = Date.UTC(2026, 2, 11, 12);
const hourMs = 3_600_000;
/** 1,000 letters: some 700 tokens by count, and two for each byte by their bound. */
const body = { messages: [{ role: "user", content: "abc def ".repeat(125) }], max_tokens: 100 };
const bytes = Buffer.byteLength(JSON.stringify(body.messages));
const byBytes = 4 + 2 * bytes + 100 * 2;

let test: TestGateway;
afterEach(() => test.close());

/** A call costs 5,000 micro-credits: more than `plan` and `key` below have. */
async function startWith({ plan = {}, key = {}, model = {} }: { plan?: object; key?: object; model?: Partial<Model> }) {
  const clock = new ManualClock(start);
  const count = vi.fn((text: string) => Math.ceil(text.length / 4));
  test = await startTestGateway({
    clock,
    ledger: memoryCreditLedger({ clock }),
    models: [
      { ...smallModel, price: { input: 1, output: 2 }, ...model },
      { ...smallModel, id: "acme/counted", tokenizer: { count } },
    ],
    keys: memoryKeyStore([{ key: "sk-pro", id: "key_1", account: "acct_1", plan: "pro", ...key }]),
    plans: memoryPlanStore({ pro: { models: ["*"], ...plan } }),
  });
  const usage = { prompt_tokens: 5000, completion_tokens: 0, total_tokens: 5000 };
  test.upstream.reply(wholeAnswer(chatAnswer({ usage })));
  const call = async (own: object = {}) => {
    const response = await test.gateway.handler(chatRequest({ ...body, ...own }));
    return { status: response.status, code: ((await response.json()) as { error?: { code?: string } }).error?.code };
  };
  return { call, count, clock };
}

describe("a call of an account that was denied", () => {
  it.each<[string, object, string]>([
    ["its account's credits", { plan: { credits: { session: 0.004 } } }, "session_limit_exceeded"],
    ["a cap of its key", { key: { credits: { day: 0.004 } } }, "key_limit_exceeded"],
    ["a rate in tokens", { plan: { rates: { tokensPerMinute: 100 } } }, "rate_limit_exceeded"],
    ["a rate in requests", { plan: { rates: { requestsPerMinute: 1 } } }, "rate_limit_exceeded"],
  ])("is denied again by %s without being counted", async (_name, own, code) => {
    const { call, count } = await startWith(own);
    expect((await call()).status).toBe(200);
    expect(await call({ model: "acme/counted" })).toEqual({ status: 429, code });
    count.mockClear();
    for (let times = 0; times < 3; times++) {
      expect(await call({ model: "acme/counted" })).toEqual({ status: 429, code });
    }
    expect(count).not.toHaveBeenCalled();
  });

  it("is counted again as soon as it is admitted, so that it holds no more than it may", async () => {
    const { call, clock } = await startWith({ plan: { credits: { session: 0.004 } } });
    await call();
    await test.upstream.nextRequest();
    expect((await call()).status).toBe(429);
    clock.advance(5 * hourMs);
    const gate = createGate();
    test.upstream.reply(async (request, response) => {
      await gate.pass();
      await wholeAnswer(chatAnswer({ usage: null }))(request, response);
    });
    const answer = call();
    await test.upstream.nextRequest();
    const { windows } = await test.gateway.accounts.balance("acct_1");
    expect(windows.session.heldMicro).toBeGreaterThan(bytes / 3);
    expect(windows.session.heldMicro).toBeLessThan(byBytes);
    gate.open();
    expect((await answer).status).toBe(200);
  });

  it("takes of a rate what it needs as soon as it is admitted", async () => {
    const { call, clock } = await startWith({ plan: { rates: { tokensPerMinute: 500 } } });
    expect(await call()).toMatchObject({ status: 200 });
    await test.upstream.nextRequest();
    expect(await call()).toMatchObject({ status: 429 });
    clock.advance(11 * 60_000);
    const gate = createGate();
    test.upstream.reply(async (request, response) => {
      await gate.pass();
      await wholeAnswer(chatAnswer({ usage: null }))(request, response);
    });
    const first = call();
    await test.upstream.nextRequest();
    expect(await call()).toMatchObject({ status: 429 });
    gate.open();
    expect(await first).toMatchObject({ status: 200 });
  });

  it("gets the errors of its request before the denial", async () => {
    const { call } = await startWith({ plan: { credits: { session: 0.004 } }, model: { contextLength: 2000 } });
    await call();
    expect(await call()).toEqual({ status: 429, code: "session_limit_exceeded" });
    expect(await call({ messages: [] })).toMatchObject({ status: 400 });
    expect(await call({ model: "acme/none" })).toMatchObject({ status: 404 });
    const messages = [{ role: "user", content: "word ".repeat(3000) }];
    expect(await call({ messages })).toEqual({ status: 400, code: "context_length_exceeded" });
    const image = { type: "image_url", image_url: { url: "https://images.test/1.png" } };
    const content = new Array(9000).fill({ type: "tool_result", content: [image, image] });
    const crowd = { model: "acme/counted", messages: [{ role: "user", content }] };
    expect(await call(crowd)).toEqual({ status: 400, code: "array_above_max_length" });
  });
});
