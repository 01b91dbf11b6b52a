import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../../../src/gateway/create-gateway.js";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { ThresholdReached } from "../../../../src/gateway/thresholds.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";

const terms = { plan: "p", anchor: null };
const monday = Date.UTC(2026, 0, 5, 12);

/** Gateways of several processes, by one shared ledger. */
function startMany(count: number, credits: object, options: Partial<GatewayOptions> = {}) {
  const clock = new ManualClock(monday);
  const shared = memoryCreditLedger({ clock });
  const reached: ThresholdReached[] = [];
  const warnings: string[] = [];
  const gateways = Array.from({ length: count }, (_, index) =>
    createGateway({
      models: [],
      providers: {},
      keys: memoryKeyStore(),
      plans: memoryPlanStore({ p: { models: ["*"], credits } }),
      // Every second one calls the ledger through a guard, as it would a remote one.
      ledger: index % 2 === 0 ? shared : { ...shared },
      clock,
      onThreshold: (event) => void reached.push(event),
      onWarning: ({ code, message }) => void warnings.push(`${code}: ${message}`),
      ...options,
    }),
  );
  const [first] = gateways;
  if (first === undefined) throw new Error("Give a count.");
  return { clock, gateways, first, reached, warnings, close: () => Promise.all(gateways.map((one) => one.close())) };
}

let ids = 0;
async function spend(gateway: Gateway, creditsMicro: number): Promise<number> {
  const hold = await gateway.accounts
    .hold("acct", { id: `h${ids++}`, creditsMicro, ...terms })
    .catch((error: { status?: number }) => {
      if (error.status !== 429) throw error;
    });
  if (hold === undefined) return 0;
  return (await hold.settle({ creditsMicro })).chargedMicro;
}

/** The highest share of each window that was reached: of `window percent instance`. */
function highestOf(found: readonly string[]): Record<string, number> {
  const highest: Record<string, number> = {};
  for (const [window, percent, instance] of found.map((one) => one.split(" "))) {
    const key = `${window} ${instance}`;
    highest[key] = Math.max(highest[key] ?? 0, Number(percent));
  }
  return highest;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("thresholds", () => {
  it("are reached once for each window and share, whichever process charges, under parallel load", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 60 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
        async (costs, thresholds, instances) => {
          // 137 does not divide by 100, so that shares are rounded.
          const limits = { session: 137e-6, week: 1e9, month: 300e-6 };
          const { gateways, first, reached, clock, close } = startMany(4, limits, { thresholds });
          let month = 0;
          const expected: string[] = [];
          for (let instance = 0; instance < instances; instance++) {
            const charged = await Promise.all(costs.map((cost, at) => spend(gateways[at % 4] ?? first, cost)));
            const session = charged.reduce((sum, one) => sum + one, 0);
            for (const percent of thresholds) {
              if (session >= Math.ceil(1.37 * percent)) expected.push(`session ${percent} ${instance}`);
              const share = 3 * percent;
              if (month < share && month + session >= share) expected.push(`month ${percent} 0`);
            }
            month += session;
            clock.advance(5 * 3_600_000);
          }
          await turn();
          await turn();
          const found = reached.map(({ window, percent, resetsAt }) => {
            const end = resetsAt ?? 0;
            return `${window} ${percent} ${window === "session" ? (end - monday) / 18_000_000 - 1 : 0}`;
          });
          // A charge that reaches several at once names the highest, which is never left out.
          expect(new Set(found).size).toBe(found.length);
          expect(expected).toEqual(expect.arrayContaining(found));
          expect(highestOf(found)).toEqual(highestOf(expected));
          for (const { usedMicro, limitMicro, percent } of reached) {
            expect(usedMicro * 100).toBeGreaterThanOrEqual(limitMicro * (percent ?? 0));
          }
          await close();
        },
      ),
      { numRuns: 40 },
    );
  });

  it("come after the settlement, with all that the host needs", async () => {
    const { first, reached, close } = startMany(1, { session: 100e-6 });
    await spend(first, 79);
    await turn();
    expect(reached).toEqual([]);
    await spend(first, 1);
    expect(reached).toEqual([]);
    await turn();
    expect(reached).toEqual([
      {
        ...{ account: "acct", window: "session", percent: 80, usedMicro: 80, limitMicro: 100 },
        resetsAt: monday + 18_000_000,
      },
    ]);
    await spend(first, 500);
    await turn();
    expect(reached.map(({ percent }) => percent)).toEqual([80, 100]);
    await close();
  });

  it("are those of the limit with its grants, and may come again after a reset", async () => {
    const { first, reached, close } = startMany(1, { session: 100e-6 }, { thresholds: [50] });
    await spend(first, 10);
    await first.accounts.grant("acct", { id: "g", window: "session", amountMicro: 100, ...terms });
    await spend(first, 60);
    await turn();
    expect(reached).toEqual([]);
    await spend(first, 30);
    await first.accounts.reset("acct");
    await spend(first, 100);
    await turn();
    expect(reached.map(({ usedMicro, limitMicro }) => [usedMicro, limitMicro])).toEqual([
      [100, 200],
      [100, 200],
    ]);
    await close();
  });

  it("do not come of a settlement that is repeated, late, or of a window that is over", async () => {
    const { first, reached, clock, close } = startMany(1, { session: 100e-6 });
    const late = await first.accounts.hold("acct", { id: "late", creditsMicro: 90, ...terms });
    const earlier = await first.accounts.hold("acct", { id: "old", creditsMicro: 1, ...terms });
    clock.advance(61_000);
    expect((await late.settle({ creditsMicro: 90 })).status).toBe("late");
    clock.advance(5 * 3_600_000);
    await spend(first, 1);
    await earlier.settle({ creditsMicro: 500 });
    await turn();
    expect(reached).toEqual([]);
    await close();
  });

  it("come when prepaid credits are used up, and again after a top-up", async () => {
    const { gateways, first, reached, close } = startMany(4, { session: 0 });
    await first.accounts.topUp("acct", { id: "a", creditsMicro: 10 });
    await Promise.all(gateways.map((gateway) => spend(gateway, 4)));
    await turn();
    await Promise.all(gateways.map((gateway) => spend(gateway, 4)));
    await turn();
    const used = { account: "acct", window: "prepaid", percent: 100, limitMicro: 0, resetsAt: null };
    expect(reached).toEqual([{ ...used, usedMicro: 2, balanceMicro: -2 }]);
    await first.accounts.topUp("acct", { id: "b", creditsMicro: 12 });
    await spend(first, 10);
    await turn();
    expect(reached).toEqual([
      { ...used, usedMicro: 2, balanceMicro: -2 },
      { ...used, usedMicro: 0, balanceMicro: 0 },
    ]);
    await close();
  });

  it("come when the balance of prepaid credits is low, once, and before they are used up", async () => {
    const { gateways, first, reached, close } = startMany(4, { session: 10e-6 }, { thresholds: { prepaid: 20e-6 } });
    await first.accounts.topUp("acct", { id: "a", creditsMicro: 50 });
    await Promise.all(gateways.map((gateway) => spend(gateway, 9)));
    await turn();
    const low = { account: "acct", window: "prepaid", percent: null, usedMicro: 0, limitMicro: 0, resetsAt: null };
    const ofPrepaid = () => reached.filter(({ window }) => window === "prepaid");
    // The plan pays 10 of the 36.
    expect(ofPrepaid()).toEqual([]);
    await spend(first, 4);
    await turn();
    expect(ofPrepaid()).toEqual([{ ...low, balanceMicro: 20 }]);
    await spend(first, 30);
    await turn();
    expect(ofPrepaid().map(({ percent, balanceMicro }) => [percent, balanceMicro])).toEqual([
      [null, 20],
      [100, -10],
    ]);
    await close();
  });

  it("come at each of several low balances, once for a charge, and again after a top-up", async () => {
    const thresholds = { prepaid: [20e-6, 5e-6] };
    const { gateways, first, reached, close } = startMany(4, { session: 0 }, { thresholds });
    const balances = () => reached.map(({ percent, balanceMicro }) => [percent, balanceMicro]);
    await first.accounts.topUp("acct", { id: "a", creditsMicro: 50 });
    await Promise.all(gateways.map((gateway) => spend(gateway, 8)));
    await turn();
    expect(balances()).toEqual([[null, 18]]);
    await Promise.all(gateways.map((gateway) => spend(gateway, 3)));
    await spend(first, 2);
    await turn();
    expect(balances()).toEqual([
      [null, 18],
      [null, 4],
    ]);
    await first.accounts.topUp("acct", { id: "b", creditsMicro: 46 });
    await spend(first, 46);
    await turn();
    expect(balances().slice(2)).toEqual([[null, 4]]);
    await close();
  });

  it("of one charge that passes several are the highest alone", async () => {
    const { first, reached, close } = startMany(1, { session: 100e-6 }, { thresholds: [50, 80, 100] });
    await spend(first, 85);
    await turn();
    expect(reached.map(({ percent }) => percent)).toEqual([80]);
    await spend(first, 20);
    await turn();
    expect(reached.map(({ percent }) => percent)).toEqual([80, 100]);
    await close();
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("broken");
      },
    ],
  ])("whose hook %s are a warning", async (_, onThreshold) => {
    const { first, warnings, close } = startMany(1, { session: 100e-6 }, { onThreshold, thresholds: [1] });
    expect(await spend(first, 50)).toBe(50);
    await turn();
    await turn();
    expect(warnings.filter((warning) => !warning.startsWith("unmatched"))).toEqual([
      "hook_failed: onThreshold failed.",
    ]);
    await close();
  });

  it.each([
    [[0]],
    [[101]],
    [[1.5]],
    [[]],
    [[80, 80]],
    [{ prepaid: -1 }],
    [{ prepaid: [] }],
    [{ prepaid: [5, 5] }],
    [{ percents: [80] }],
  ])("of %o are refused", (thresholds) => {
    expect(() => startMany(1, {}, { thresholds: thresholds as GatewayOptions["thresholds"] })).toThrow("thresholds");
  });
});
