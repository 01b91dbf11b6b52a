import { describe, expect, it } from "vitest";
import { memoryKeyStore } from "../../src/memory/memory-key-store.js";
import { memoryPlanStore } from "../../src/memory/memory-plan-store.js";
import { chatAnswer, createGate, wholeAnswer } from "../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../support/test-gateway.js";

/** 1,000 letters: some 700 tokens by count, and two for each byte by their bound. */
const body = { messages: [{ role: "user", content: "abc def ".repeat(125) }], max_tokens: 100 };
const bytes = Buffer.byteLength(JSON.stringify(body.messages));
const byBytes = (4 + 2 * bytes) * 1 + 100 * 2;

/**
 * An account with so many micro-credits for its month, after a first call that has used `used` of them.
 * A token of prompt costs 1 micro-credit, one of output 2.
 */
async function startWith(monthMicro: number, { used = 10, plan = {}, model = {} } = {}) {
  const test = await startTestGateway({
    models: [{ ...smallModel, price: { input: 1, output: 2 }, ...model }],
    keys: memoryKeyStore([{ key: "sk-pro", id: "key_1", account: "acct_1", plan: "pro" }]),
    plans: memoryPlanStore({ pro: { models: ["*"], credits: { month: monthMicro / 1e6 }, ...plan } }),
  });
  const usage = { prompt_tokens: used, completion_tokens: 0, total_tokens: used };
  test.upstream.reply(wholeAnswer(chatAnswer({ usage })));
  const gate = createGate();
  const call = async (own: object = {}) => {
    const response = await test.gateway.handler(chatRequest({ ...body, ...own }));
    await response.arrayBuffer();
    return response.status;
  };
  expect(await call()).toBe(200);
  test.upstream.reply(async (request, response) => {
    await gate.pass();
    await wholeAnswer(chatAnswer({ usage: null }))(request, response);
  });
  const month = async () => {
    const { windows } = await test.gateway.accounts.balance("acct_1");
    return { used: windows.month.usedMicro, held: windows.month.heldMicro };
  };
  /** What is held while so many calls are under way. */
  const heldBy = async (calls: number, own: object = {}) => {
    const answers = Array.from({ length: calls }, () => call(own));
    for (let arrived = 0; arrived < calls; arrived++) await test.upstream.nextRequest();
    return { answers, ...(await month()) };
  };
  return { test, gate, month, heldBy, call };
}

describe("what is held for a prompt", () => {
  it("is two tokens for each of its bytes, where the account has a thousand times that left, and its count is charged", async () => {
    const { test, gate, heldBy, month } = await startWith(10_000_000);
    const { held, answers } = await heldBy(1);
    expect(held).toBe(byBytes);
    gate.open();
    expect(await Promise.all(answers)).toEqual([200]);
    // The upstream reported no usage: the prompt is charged by its count.
    const { used } = await month();
    expect(used - 10).toBeGreaterThan(bytes / 3);
    expect(used - 10).toBeLessThan(byBytes - 200);
    await test.close();
  });

  it("is its count, where that is much of what is left", async () => {
    const { test, gate, heldBy } = await startWith(16 * byBytes - 1);
    const { held, answers } = await heldBy(1);
    expect(held).toBeLessThan(byBytes);
    gate.open();
    expect(await Promise.all(answers)).toEqual([200]);
    await test.close();
  });

  it("is its count once all that is held is a sixteenth of what is left", async () => {
    const { test, gate, heldBy } = await startWith(16 * 3 * byBytes + 10);
    const { held, answers } = await heldBy(8);
    expect(held).toBeGreaterThan(3 * byBytes);
    const counted = (held - 3 * byBytes) / 5;
    expect(counted).toBeLessThan(byBytes);
    expect(counted).toBeGreaterThan(bytes / 3);
    gate.open();
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 8 }, () => 200));
    await test.close();
  });

  it.each<[string, object]>([
    ["rates in tokens", { plan: { rates: { tokensPerMinute: 1_000_000 } } }],
    ["a context that the bytes exceed", { model: { contextLength: 1500 } }],
    ["a tokenizer of its own", { model: { tokenizer: { count: (text: string) => text.length } } }],
  ])("is its count with %s", async (_name, own) => {
    const { test, gate, heldBy } = await startWith(10_000_000, own);
    const { held, answers } = await heldBy(1);
    expect(held).toBeLessThan(byBytes);
    gate.open();
    expect(await Promise.all(answers)).toEqual([200]);
    await test.close();
  });
});
