import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { mutationPlugin } from "./mutation/mutation-plugin.js";

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

/** Too slow for every run: `vitest --mode soak` runs test/soak and nothing else. */
const slow = [
  "soak",
  "next",
  "runtimes",
  "grounds",
  "node-versions",
  "local-model",
  "bench",
  "token-search",
  "agents",
  "python",
  "model",
  "crashes",
  "browser",
];

/** Takes seconds of processor time, or many processes: `npm run test:heavy` runs these in all folders. */
const heavy = "test/**/*.heavy.test.ts";

/** A line of a store to break on purpose: see test/mutation. */
const { MUTATION } = process.env;

export default defineConfig(({ mode }) => ({
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
    include: slow.includes(mode) ? [`test/${mode}/**/*.test.ts`] : [mode === "heavy" ? heavy : "test/**/*.test.ts"],
    exclude: slow.includes(mode)
      ? configDefaults.exclude
      : [...configDefaults.exclude, ...slow.map((folder) => `test/${folder}/**`), ...(mode === "heavy" ? [] : [heavy])],
    expect: { poll: { timeout: 10_000 } },
    // Against what hangs. How fast something is no test may depend on: some machines have other things to do.
    testTimeout: slow.includes(mode) ? 600_000 : 60_000,
    hookTimeout: slow.includes(mode) ? 600_000 : 60_000,
  },
}));
