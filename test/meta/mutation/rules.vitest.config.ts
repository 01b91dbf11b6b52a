import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import base from "../../vitest.config.js";

/** The tests of the rules of credits and prices, those that take longest last: one that fails ends a run. */
const files = [
  "test/unit/prices/**/*.test.ts",
  "test/{unit,contract}/ledger/**/*.test.ts",
  "test/contract/memory/{memory-stores,memory-credit-ledger,account-map,lapse-until,usage-costs}.test.ts",
  "test/contract/sqlite/lapse.test.ts",
  "test/meta/mutation/sqlite-rules.ts",
  "test/contract/memory/memory-credit-ledger-model.heavy.test.ts",
];
const slow = ["/ledger/", "memory-credit-ledger.test", "memory-stores", "/sqlite/", "sqlite-rules", "ledger-model"];

class ShortestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => slow.findIndex((part) => moduleId.includes(part));
    return specifications.toSorted((one, other) => place(one) - place(other));
  }
}

/** The tests that Stryker runs for each change: without servers, and with one seed. */
export default defineConfig((env) => {
  const { test, ...rest } = base(env);
  return mergeConfig(
    { ...rest, test: { ...test, include: files } },
    {
      test: {
        root: fileURLToPath(new URL("../../..", import.meta.url)),
        // It starts a server.
        exclude: ["test/contract/ledger/announcements.test.ts"],
        sequence: { sequencer: ShortestFirst },
        setupFiles: ["test/meta/mutation/first-failure.ts"],
        env: { FC_RUNS: "60", FC_SEED: "1" },
      },
    },
  );
});
