import { describe, expect, it } from "vitest";
import type { CreditLedger, ReserveResult } from "../../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { freeModel } from "../../support/test-gateway.js";
import { byBytes, describeLooseHolds, startWith } from "./loose-holds-suite.js";

const shared = memoryCreditLedger();
describeLooseHolds("in memory", () => shared);

/** A ledger that reserves at once, and answers one reservation at a time. */
function slowLedger() {
  const ledger = memoryCreditLedger();
  const waiting: (() => void)[] = [];
  let isSlow = false;
  const slow: CreditLedger = {
    ...ledger,
    async reserve(request): Promise<ReserveResult> {
      const result = await ledger.reserve(request);
      if (isSlow) await new Promise<void>((resolve) => waiting.push(resolve));
      return result;
    },
  };
  return {
    ledger: slow,
    waiting,
    begin() {
      isSlow = true;
    },
  };
}

describe("what is held for a prompt", () => {
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

  it("is its count after a call of a free model, which has no limits that would show what is left", async () => {
    const rates = { models: { "acme/free": { requestsPerMinute: 10 } } };
    const { test, gate, heldBy, call } = await startWith(16 * byBytes - 1, {
      plan: { rates },
      models: [freeModel],
    });
    gate.step();
    expect(await call({ model: "acme/free" })).toBe(200);
    await test.upstream.nextRequest();
    const { held, answers } = await heldBy(1);
    expect(held).toBeLessThan(byBytes);
    gate.open();
    expect(await Promise.all(answers)).toEqual([200]);
    await test.close();
  });

  it("is its count while the ledger is away, where nothing shows what is left", async () => {
    const memory = memoryCreditLedger();
    let isAway = false;
    const ledger: CreditLedger = {
      ...memory,
      inProcess: false,
      reserve: (request) => (isAway ? Promise.reject(new Error("It is away.")) : memory.reserve(request)),
    };
    const held: number[] = [];
    const { test, gate, call } = await startWith(16 * byBytes - 1, {
      ledger,
      ledgerOptions: { onUnavailable: "allow" },
      onLedgerEvent: (event) => event.type === "insured" && held.push(event.heldMicro),
    });
    isAway = true;
    gate.open();
    for (let calls = 0; calls < 2; calls++) expect(await call()).toBe(200);
    expect(held).toHaveLength(2);
    expect(Math.max(...held)).toBeLessThan(byBytes);
    await test.close();
  });

  it("counts what is on its way to the ledger as held", async () => {
    const { ledger, waiting, begin } = slowLedger();
    const { test, gate, call, month } = await startWith(16 * 4 * byBytes + 10, { ledger });
    begin();
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    const answers: Promise<number>[] = [];
    const start = async () => {
      answers.push(call());
      while (waiting.length < answers.length - arrived) await turn();
    };
    let arrived = 0;
    const answerNext = async () => {
      waiting.shift()?.();
      arrived++;
      await test.upstream.nextRequest();
    };
    for (let calls = 0; calls < 3; calls++) await start();
    expect((await month()).held).toBe(3 * byBytes);
    // It shows what the first call holds. The other two are under way.
    await answerNext();
    await start();
    expect((await month()).held).toBe(4 * byBytes);
    await start();
    expect((await month()).held).toBeLessThan(5 * byBytes);
    while (waiting.length > 0) await answerNext();
    gate.open();
    expect(await Promise.all(answers)).toEqual(Array(5).fill(200));
    await test.close();
  });
});
