import { afterEach, expect, it } from "vitest";
import type { ThresholdReached } from "../../../../src/gateway/thresholds.js";
import type { GatewayOptions } from "../../../../src/index.js";
import { unique } from "../../../../src/testing/credit-ledger-fixture.js";
import { chatAnswer, wholeAnswer } from "../../../../src/testing.js";
import { type BackEnd, describeBackEnds } from "../../../e2e/processes/back-ends.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

/** 10 tokens at 1 micro-credit, and 99,999 at 10. */
const oneCredit = wholeAnswer(
  chatAnswer({ usage: { prompt_tokens: 10, completion_tokens: 99_999, total_tokens: 100_009 } }),
);
const thresholds = [10, 50, 80, 100];

describeBackEnds("thresholds", (backEnd: () => BackEnd) => {
  let gateways: TestGateway[] = [];
  afterEach(async () => {
    for (const one of gateways) await one.close();
    gateways = [];
  });

  /** As two processes have them. */
  async function startTwo(
    onThreshold: (event: ThresholdReached) => void,
    given: GatewayOptions["thresholds"] = thresholds,
  ) {
    const { keys, plans, ledger } = backEnd().stores;
    const start = () => startTestGateway({ keys, plans, ledger, onThreshold, thresholds: given });
    const first = await start();
    gateways = [first, await start()];
    for (const { upstream } of gateways) upstream.reply(oneCredit);
    const call = async (secret: string, count: number) => {
      const calls = Array.from({ length: count }, async (_, at) => {
        const response = await gateways[at % 2]?.gateway.handler(chatRequest({}, secret));
        await response?.text();
      });
      await Promise.all(calls);
    };
    return { gateway: first.gateway, call };
  }

  it("of windows, caps and prepaid credits are reached once, whichever gateway charges", async () => {
    const reached: ThresholdReached[] = [];
    const { gateway, call } = await startTwo((event) => reached.push(event));
    const account = unique("acct");
    const plan = unique("plan");
    await gateway.plans.put({ id: plan, models: ["acme/*"], credits: { month: 30 } });
    const capped = await gateway.keys.create({ account, plan, credits: { day: 40, total: 10 } });
    const other = await gateway.keys.create({ account, plan });
    for (let round = 0; round < 3; round++) await call(capped.secret, 6);
    for (let round = 0; round < 6; round++) await call(other.secret, 6);
    await gateway.accounts.topUp(account, { id: unique("payment"), credits: 3 });
    for (let round = 0; round < 3; round++) await call(other.secret, 3);

    const { windows, prepaid } = await gateway.accounts.balance(account);
    expect(windows.month.usedMicro).toBeGreaterThanOrEqual(30_000_000);
    expect(prepaid?.balanceMicro ?? 0).toBeLessThanOrEqual(0);
    const usage = await gateway.accounts.usage(account, { by: ["key"] });
    const ofKey = usage.find(({ by }) => by["key"] === capped.id)?.chargedMicro ?? 0;
    expect(ofKey).toBeGreaterThanOrEqual(10_000_000);
    const expected = thresholds.flatMap((percent) => [
      `month ${percent} 30000000 account`,
      `total ${percent} 10000000 key`,
      ...(ofKey * 100 >= 40_000_000 * percent ? [`day ${percent} 40000000 key`] : []),
    ]);
    const found = () =>
      reached.map(
        ({ window, percent, limitMicro, keyId }) =>
          `${window} ${percent} ${limitMicro} ${keyId === capped.id ? "key" : (keyId ?? "account")}`,
      );
    await expect.poll(() => found().sort()).toEqual([...expected, "prepaid 100 0 account"].sort());
  });

  it("of several low balances are reached once each, whichever gateway charges", async () => {
    const reached: ThresholdReached[] = [];
    const { gateway, call } = await startTwo((event) => reached.push(event), { percent: [100], prepaid: [6, 3] });
    const account = unique("acct");
    const plan = unique("plan");
    await gateway.plans.put({ id: plan, models: ["acme/*"], credits: { month: 0 } });
    const { secret } = await gateway.keys.create({ account, plan });
    await gateway.accounts.topUp(account, { id: unique("payment"), credits: 8 });
    const low = () => reached.filter(({ percent }) => percent === null).map(({ balanceMicro }) => balanceMicro);
    // Each call costs 1 credit, so a fall that two gateways saw would be there twice.
    for (let round = 0; round < 6; round++) await call(secret, 2);
    await expect.poll(() => low().sort()).toEqual([3_000_000, 6_000_000]);
    await gateway.accounts.topUp(account, { id: unique("payment"), credits: 10 });
    for (let round = 0; round < 7; round++) await call(secret, 2);
    await expect.poll(() => low().sort()).toEqual([3_000_000, 3_000_000, 6_000_000, 6_000_000]);
  });
});
