import { fileURLToPath } from "node:url";

/**
 * Stryker changes each expression of the rules of money, and runs the tests that reach it.
 * `npm run test:mutation:rules -- --mutate src/ledger/receipt.ts` does so for one file.
 */
export default {
  mutate: [
    "src/ledger/**/!(announcements|at-most).ts",
    "src/metering/prices/*.ts",
    "src/metering/{decimal,lacking-units,to-micro}.ts",
    "src/memory/{account,account-map,memory-ledger,memory-records}.ts",
  ],
  testRunner: "vitest",
  vitest: { configFile: "test/mutation/rules.vitest.config.ts", related: false },
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
