import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { mutationPlugin } from "./meta/mutation/mutation-plugin.js";

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

/** What has a run of its own, such as `vitest --mode soak`, and where it stands. */
const ownRuns: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      "agents",
      "browser",
      "crashes",
      "grounds",
      "local-model",
      "next",
      "node-versions",
      "python",
      "runtimes",
      "soak",
    ].map((name) => [name, `test/e2e/${name}`]),
  ),
  bench: "test/bench",
  model: "test/contract/model",
  "token-search": "test/e2e/token-search",
};

/** Takes seconds of processor time, or many processes: `npm run test:heavy` runs these, and `--mode all` these, too. */
const heavy = "test/**/*.heavy.test.ts";

/** A line of a store to break on purpose: see test/meta/mutation. */
const { MUTATION } = process.env;

export default defineConfig(({ mode }) => {
  const own = ownRuns[mode];
  return {
    plugins: MUTATION === undefined ? [] : [mutationPlugin(MUTATION)],
    root: fileURLToPath(new URL("..", import.meta.url)),
    resolve: {
      alias: [
        { find: "#transport", replacement: source("transport.undici.ts") },
        { find: /^infergate$/, replacement: source("index.ts") },
        {
          find: /^infergate\/(express|fastify|fetch|node|pages|sqlite|redis|postgres|mysql|ai-sdk|otel|prometheus|logs|testing|tokenizer)$/,
          replacement: source("$1.ts"),
        },
      ],
    },
    test: {
      // Most tests wait for sockets and servers: a processor left to itself by default would be idle.
      maxWorkers: "100%",
      // The examples for Next.js install what is built here, which one of them builds.
      fileParallelism: mode !== "next",
      // To load every module anew for each file takes as long as a third of the tests: they leave nothing behind.
      isolate: false,
      setupFiles: ["test/support/real-time.ts"],
      globalSetup: ["test/support/bundled-folder.ts"],
      // The contract suites of src/testing take whatever runner there is.
      globals: true,
      include: [own === undefined ? (mode === "heavy" ? heavy : "test/**/*.test.ts") : `${own}/**/*.test.ts`],
      exclude:
        own === undefined
          ? [
              ...configDefaults.exclude,
              ...Object.values(ownRuns).map((folder) => `${folder}/**`),
              ...(mode === "heavy" || mode === "all" ? [] : [heavy]),
            ]
          : configDefaults.exclude,
      expect: { poll: { timeout: 30_000 } },
      // Against what hangs. How fast something is no test may depend on: some machines have other things to do.
      testTimeout: own === undefined ? 180_000 : 600_000,
      hookTimeout: own === undefined ? 180_000 : 600_000,
    },
  };
});
