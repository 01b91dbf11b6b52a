import { expect, it } from "vitest";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer, createGate, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

const answer = wholeAnswer(chatAnswer({ usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } }));

it("is one for all keys of an account, so that what they hold together denies none of their calls", async () => {
  const keys = Array.from({ length: 40 }, (_, index) => `sk-${index}`);
  const test = await startTestGateway({
    ledger: memoryCreditLedger(),
    models: [{ ...smallModel, price: { input: 1, output: 0 } }],
    keys: memoryKeyStore(keys.map((key) => ({ key, account: "acct_1", plan: "p" }))),
    plans: memoryPlanStore({ p: { models: ["*"], credits: { session: 1 } } }),
  });
  test.upstream.reply(answer);
  for (const key of keys) expect((await test.gateway.handler(chatRequest({}, key))).status).toBe(200);
  const gate = createGate();
  test.upstream.reply(async (request, response) => {
    await gate.pass();
    await answer(request, response);
  });
  // 7,000 tokens each, which 59,000 bound.
  const body = { messages: [{ role: "user", content: "many words here ".repeat(1850) }] };
  const responses = keys.map((key) => test.gateway.handler(chatRequest(body, key)));
  await test.upstream.nextRequest();
  gate.open();
  expect((await Promise.all(responses)).map(({ status }) => status)).toEqual(keys.map(() => 200));
  await test.close();
});
