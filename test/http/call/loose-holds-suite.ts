import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer, createGate, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

/** 1,000 letters: some 700 tokens by count, and two for each byte by their bound. */
const body = { messages: [{ role: "user", content: "abc def ".repeat(125) }], max_tokens: 100 };
export const bytes = Buffer.byteLength(JSON.stringify(body.messages));
export const byBytes = (4 + 2 * bytes) * 1 + 100 * 2;

interface Started extends Pick<Partial<GatewayOptions>, "ledger" | "ledgerOptions" | "onLedgerEvent"> {
  readonly account?: string;
  readonly used?: number;
  readonly plan?: object;
  readonly model?: object;
  /** More of them. */
  readonly models?: readonly Model[];
}

/**
 * A gateway, and an account with so many micro-credits for its month, after a first call that has used `used` of them.
 * A token of prompt costs 1 micro-credit, one of output 2.
 */
export async function startWith(monthMicro: number, options: Started = {}) {
  const { account = `acct_${randomUUID()}`, used = 10, plan = {}, model = {}, models = [], ...gateway } = options;
  const test = await startTestGateway({
    models: [{ ...smallModel, price: { input: 1, output: 2 }, ...model }, ...models],
    keys: memoryKeyStore([{ key: "sk-pro", id: "key_1", account, plan: "pro" }]),
    plans: memoryPlanStore({ pro: { models: ["*"], credits: { month: monthMicro / 1e6 }, ...plan } }),
    // A store of a busy machine may take a while.
    ledgerOptions: { reserveTimeoutMs: 30_000 },
    ...gateway,
  });
  const usage = { prompt_tokens: used - 2, completion_tokens: 1, total_tokens: used - 1 };
  test.upstream.reply(wholeAnswer(chatAnswer({ usage })));
  const gate = createGate();
  const call = async (own: object = {}) => {
    const response = await test.gateway.handler(chatRequest({ ...body, ...own }));
    await response.arrayBuffer();
    return response.status;
  };
  expect(await call()).toBe(200);
  await test.upstream.nextRequest();
  test.upstream.reply(async (request, response) => {
    await gate.pass();
    await wholeAnswer(chatAnswer({ usage: null }))(request, response);
  });
  const month = async () => {
    const { windows } = await test.gateway.accounts.balance(account);
    return { used: windows.month.usedMicro, held: windows.month.heldMicro };
  };
  /** What is held while so many calls are under way, one of which began after the other. */
  const heldBy = async (calls: number, own: object = {}) => {
    const answers: Promise<number>[] = [];
    while (answers.length < calls) {
      answers.push(call(own));
      await test.upstream.nextRequest();
    }
    return { answers, ...(await month()) };
  };
  return { test, gate, account, month, heldBy, call };
}

/** The worked examples of what is held for a prompt, on a ledger that may have other accounts. */
export function describeLooseHolds(name: string, openLedger: () => CreditLedger): void {
  describe(`what is held for a prompt, ${name}`, () => {
    it("is two tokens for each of its bytes, where the account has a thousand times that left, and its count is charged", async () => {
      const { test, gate, heldBy, month } = await startWith(10_000_000, { ledger: openLedger() });
      const { held, answers } = await heldBy(1);
      expect(held).toBe(byBytes);
      gate.open();
      expect(await Promise.all(answers)).toEqual([200]);
      // The upstream reported no usage: the prompt is charged by its count.
      const { used, held: left } = await month();
      expect(used - 10).toBeGreaterThan(bytes / 3);
      expect(used - 10).toBeLessThan(byBytes - 200);
      expect(left).toBe(0);
      await test.close();
    });

    it("is its count, where that is much of what is left", async () => {
      const { test, gate, heldBy } = await startWith(16 * byBytes - 1, { ledger: openLedger() });
      const { held, answers } = await heldBy(1);
      expect(held).toBeLessThan(byBytes);
      gate.open();
      expect(await Promise.all(answers)).toEqual([200]);
      await test.close();
    });

    it("is its count once all that is held is a sixteenth of what is left", async () => {
      const { test, gate, heldBy } = await startWith(16 * 3 * byBytes + 10, { ledger: openLedger() });
      const { held, answers } = await heldBy(8);
      expect(held).toBeGreaterThan(3 * byBytes);
      const counted = (held - 3 * byBytes) / 5;
      expect(counted).toBeLessThan(byBytes);
      expect(counted).toBeGreaterThan(bytes / 3);
      gate.open();
      expect(await Promise.all(answers)).toEqual(Array.from({ length: 8 }, () => 200));
      await test.close();
    });

    it("is by bytes in a process that has not seen yet what another holds, and then by count", async () => {
      const of = { account: `acct_${randomUUID()}` };
      const month = 16 * 3 * byBytes + 20;
      const one = await startWith(month, { ...of, ledger: openLedger() });
      const other = await startWith(month, { ...of, ledger: openLedger() });
      const first = await one.heldBy(3);
      expect(first.held).toBe(3 * byBytes);
      const second = await other.heldBy(1);
      expect(second.held).toBe(4 * byBytes);
      const third = await other.heldBy(1);
      expect(third.held - second.held).toBeLessThan(byBytes);
      for (const { gate } of [one, other]) gate.open();
      expect(await Promise.all([...first.answers, ...second.answers, ...third.answers])).toEqual(Array(5).fill(200));
      expect((await one.month()).held).toBe(0);
      for (const { test } of [one, other]) await test.close();
    });
  });
}
