import { describe, expect, it } from "vitest";
import { type Scenario, smallScenario } from "./scenario.js";
import { simulate } from "./simulate.js";

const badNetwork: Scenario["network"] = { tripMs: [0.3, 0.6], lost: 0.01, repeated: 0.01 };

/** What must be so in every run. */
async function balanced(scenario: Scenario) {
  const figures = await simulate(scenario);
  expect(figures).toMatchObject({ unbalanced: 0, overcharged: 0, undercharged: 0, lostSettlements: 0 });
  expect(figures.mostOverdrawn).toBeLessThan(1);
  // Or the run has not tried it.
  expect(figures.admitted).toBeGreaterThan(500);
  expect(figures.denied).toBeGreaterThan(10);
  return figures;
}

describe("twenty simulated processes", () => {
  it.each([1, 2])("keep exact books together, seed %i", async (seed) => {
    const figures = await balanced(smallScenario(seed));
    expect(figures).toMatchObject({ unavailable: 0, wrongByCrash: 0, blockedHolds: 0, unpaidMicro: 0 });
    expect(figures.mostOverspent).toBeLessThan(1);
    // All is used up in some accounts, and no call was denied that way while there was something left.
    expect(figures.wrongDenials).toBeLessThan(figures.denied);
  });

  it("keep them over two stores", async () => {
    const figures = await balanced(smallScenario(3, { shards: 2 }));
    expect(figures.mostOverspent).toBeLessThan(1);
  });

  it.each([1, 2])("keep them when processes die and messages get lost, seed %i", async (seed) => {
    const figures = await balanced(smallScenario(seed, { kills: 6, network: badNetwork }));
    expect(figures.mostOverspent).toBeLessThan(1);
    expect(figures.blockedHolds).toBeGreaterThan(0);
    expect(figures.replayedSettlements).toBeGreaterThan(0);
  });

  it("charge what a store has lost as it failed over", async () => {
    const failover = { lagMs: 200, awayMs: 500 };
    const figures = await balanced(smallScenario(4, { shards: 2, network: badNetwork, failover }));
    expect(figures.lostOperations).toBeGreaterThan(0);
  });

  it("leave alone what else runs in the process", async () => {
    const seen = new Set<unknown>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = (argument: string): void => {
      seen.add(argument);
      timer = setTimeout(again, 1, argument);
    };
    again("of another");
    try {
      const scenario = smallScenario(7);
      expect((await simulate(scenario)).digest).toBe((await simulate(scenario)).digest);
    } finally {
      clearTimeout(timer);
    }
    expect([...seen]).toEqual(["of another"]);
  });

  it("do the same again for the same seed", async () => {
    const scenario = smallScenario(7, { seconds: 2, kills: 3, network: badNetwork, shards: 2 });
    const first = await simulate(scenario);
    expect(await simulate(scenario)).toEqual(first);
    expect((await simulate({ ...scenario, seed: 8 })).digest).not.toBe(first.digest);
  });
});
