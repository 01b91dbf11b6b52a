import { defineConfig } from "tsup";

const entries = [
  "index",
  "express",
  "fastify",
  "fetch",
  "node",
  "sqlite",
  "redis",
  "postgres",
  "ai-sdk",
  "testing",
  "tokenizer",
];
/** What `#transport` in package.json chooses from: no public entries, so no declarations. */
const transports = ["transport.undici", "transport.fetch"];

const files = (names: string[]) => Object.fromEntries(names.map((name) => [name, `src/${name}.ts`]));

export default defineConfig({
  entry: files([...entries, ...transports]),
  format: ["esm", "cjs"],
  target: "node20",
  platform: "node",
  external: ["#transport"],
  // Deno and workerd know Node's modules by their full names only.
  removeNodeProtocol: false,
  // Shared chunks, so that every entry has the same classes.
  splitting: true,
  // The CJS chunks are written by Rollup then; Sucrase, the default, puts slow closures in the place of every `?.`.
  treeshake: true,
  sourcemap: true,
  clean: true,
  dts: { entry: files(entries), compilerOptions: { ignoreDeprecations: "6.0" } },
});
