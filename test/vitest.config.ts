import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

/** Too slow for every run: `vitest --mode soak` runs test/soak and nothing else. */
const slow = ["soak", "next", "bench"];

export default defineConfig(({ mode }) => ({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: {
    alias: [
      { find: "#transport", replacement: source("transport.undici.ts") },
      { find: /^infergate$/, replacement: source("index.ts") },
      { find: /^infergate\/(express|fastify|fetch|node|sqlite|redis|postgres|ai-sdk)$/, replacement: source("$1.ts") },
    ],
  },
  test: {
    include: slow.includes(mode) ? [`test/${mode}/**/*.test.ts`] : ["test/**/*.test.ts"],
    exclude: slow.includes(mode)
      ? configDefaults.exclude
      : [...configDefaults.exclude, ...slow.map((folder) => `test/${folder}/**`)],
    testTimeout: slow.includes(mode) ? 600_000 : 20_000,
    hookTimeout: slow.includes(mode) ? 600_000 : 20_000,
  },
}));
