import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import base from "../vitest.config.js";

/** The fast tests of the rules of money, as Stryker runs them thousands of times: on the ledger in memory, with one seed. */
export default defineConfig((env) => {
  const { test, ...rest } = base(env);
  return mergeConfig(
    { ...rest, test: { ...test, include: [] } },
    {
      test: {
        root: fileURLToPath(new URL("../..", import.meta.url)),
        include: [
          "test/ledger/**/*.test.ts",
          "test/memory/memory-credit-ledger*.test.ts",
          "test/memory/usage-costs.test.ts",
          "test/metering/**/*.test.ts",
        ],
        setupFiles: ["test/mutation/first-failure.ts"],
        env: { FC_RUNS: "30", FC_SEED: "1" },
      },
    },
  );
});
