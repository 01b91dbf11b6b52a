import { describe, expect, it } from "vitest";
import type { MakeLedger } from "../../../src/testing/credit-ledger-fixture.js";
import { checkHistories } from "../contracts/credit-ledger-model.js";

/** What a ledger keeps its accounts in. A new one now and then keeps it small. */
export interface ModelStore {
  make: MakeLedger;
  remove(): Promise<unknown> | unknown;
}

/** Of one store. */
const histories = 100;
const reportEveryMs = 60_000;

/**
 * Compares a ledger with the oracle until `MODEL_COMMANDS` commands are executed. `MODEL_SEED` repeats a run.
 * `npm run test:model` sets both.
 */
export function describeModelRun(name: string, open: () => Promise<ModelStore> | ModelStore): void {
  const wanted = Number(process.env["MODEL_COMMANDS"] ?? 10_000);
  const seed = Number(process.env["MODEL_SEED"] ?? Date.now() % 1_000_000_000);

  describe(name, () => {
    it(`agrees with the oracle in ${wanted} commands`, { timeout: 0 }, async () => {
      const start = performance.now();
      let [executed, stores, reported] = [0, 0, start];
      const report = () => {
        const seconds = Math.round((performance.now() - start) / 1_000);
        console.info(`${name}: ${executed} commands in ${stores * histories} histories, ${seconds} s, seed ${seed}`);
        reported = performance.now();
      };
      while (executed < wanted) {
        const { make, remove } = await open();
        try {
          executed += await checkHistories(make, histories, seed + stores++);
        } finally {
          await remove();
        }
        if (performance.now() - reported > reportEveryMs) report();
      }
      report();
      expect(executed).toBeGreaterThanOrEqual(wanted);
    });
  });
}
