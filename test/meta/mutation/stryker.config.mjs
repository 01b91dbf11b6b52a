import { fileURLToPath } from "node:url";

/**
 * Stryker changes each expression of the rules of money, and runs the tests that reach it.
 * `npm run test:mutation:rules -- --mutate src/ledger/rules/reservation.ts` does so for one file.
 */
export default {
  mutate: [
    "src/ledger/{engine,rules}/*.ts",
    "src/ledger/{at-once,calendar,journal,window-states}.ts",
    "src/ledger/usage/usage-total.ts",
    "src/prices/{compile-price,compile-tokens,compile-units,compiled-price,micro,price,usage-counts}.ts",
  ],
  // What survives is equal in its effect: a shortcut, a bound of memory, a check that types ask for.
  thresholds: { high: 95, low: 90, break: 85 },
  testRunner: "vitest",
  vitest: { configFile: "test/meta/mutation/rules.vitest.config.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: 2,
  plugins: ["@stryker-mutator/vitest-runner", fileURLToPath(new URL("ignored-messages.mjs", import.meta.url))],
  ignorers: ["messages"],
  // A copy is changed, of what the tests need.
  tempDirName: "temp/stryker",
  ignorePatterns: ["**", "!/package.json", "!/tsconfig.json", "!/src/**", "!/test/**"],
  disableTypeChecks: false,
  reporters: ["progress-append-only", "clear-text", "json"],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  jsonReporter: { fileName: "temp/rules-mutation.json" },
  allowConsoleColors: false,
};
