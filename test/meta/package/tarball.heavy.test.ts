import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectedOfScenario } from "./expected-of-scenario.js";
import { installArchive } from "./install-archive.js";
import { type LoadedScripts, loadedScripts } from "./loaded-scripts.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const consumer = fileURLToPath(new URL("consumer", import.meta.url));

describe("the packed package, installed in an empty project", () => {
  let folder = "";
  let project = "";
  let packed: string[] = [];
  let unpackedBytes = 0;

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "infergate-package-")));
    project = join(folder, "project");
    const source = join(folder, "source");
    await mkdir(source);
    for (const name of [
      "src",
      "build",
      "docs",
      "examples",
      ".github",
      "tsconfig.json",
      "tsup.config.ts",
      "package.json",
      "README.md",
      "LICENSE",
      "CHANGELOG.md",
    ]) {
      const filter = (path: string) => !path.includes("node_modules", root.length);
      await cp(join(root, name), join(source, name), { recursive: true, filter }).catch(ignoreMissing);
    }
    await symlink(join(root, "node_modules"), join(source, "node_modules"));
    // The gate has just built this source. Else it is built in a copy, so that a `dist` that others read or write is left alone.
    if (process.env["DIST_IS_FRESH"] === "1") await cp(join(root, "dist"), join(source, "dist"), { recursive: true });
    else await node(source, "node_modules/tsup/dist/cli-default.js", "--silent");
    const { stdout } = await run("npm", ["pack", "--json", "--ignore-scripts"], { cwd: source });
    const [archive]: { filename: string; unpackedSize: number; files: { path: string }[] }[] = JSON.parse(stdout);
    if (archive === undefined) throw new Error(`npm pack said: ${stdout}`);
    packed = archive.files.map((file) => file.path);
    unpackedBytes = archive.unpackedSize;
    await cp(consumer, project, { recursive: true });
    await writeFile(join(project, "package.json"), JSON.stringify({ name: "consumer", private: true }));
    await installArchive(join(source, archive.filename), project);
  }, 300_000);

  afterAll(async () => {
    if (folder !== "") await rm(folder, { recursive: true, force: true });
  });

  it("holds what users need and nothing else", () => {
    const others = packed.filter((path) => !/^dist\/[\w.-]+\.(c?js|d\.c?ts)(\.map)?$/.test(path));
    // What is of the examples, and where links lead, packed-links.test.ts says.
    expect(others.filter((path) => !/^(docs|examples)\//.test(path)).toSorted()).toEqual([
      ".github/CONTRIBUTING.md",
      ".github/SECURITY.md",
      "LICENSE",
      "README.md",
      "dist/noble-hashes.LICENSE",
      "dist/preact.LICENSE",
      "dist/zod.LICENSE",
      "package.json",
    ]);
    const pages = others.filter((path) => path.startsWith("docs/"));
    expect(pages.filter((path) => !/^docs\/(([\w-]+\/)?[\w-]+\.md|speed\.svg)$/.test(path))).toEqual([]);
  });

  it("holds the pages that the README leads to", async () => {
    const readme = await readFile(join(project, "node_modules/infergate/README.md"), "utf8");
    const linked = [...readme.matchAll(/\]\((docs\/[^)#]+)/g)].map(([, path = ""]) => path);
    expect(linked.length).toBeGreaterThan(15);
    expect(linked.filter((path) => !packed.includes(path))).toEqual([]);
  });

  it("unpacks to no more than 4.2 MB", () => {
    expect(unpackedBytes).toBeLessThan(4_200_000);
  });

  it.each([
    ["import", "--input-type=module", 'import "infergate"'],
    ["require", "--input-type=commonjs", 'require("infergate")'],
  ])("loads no more than it needs by %s: a serverless host pays for it at each start", async (_name, type, code) => {
    const loaded = await loadedScripts(project, type, "--eval", code);
    expect(packagesOf(loaded)).toEqual(["eventsource-parser", "infergate", "lru-cache"]);
    expect(loaded.bytes).toBeLessThan(mostLoadedBytes);
  });

  it("loads undici with the first call, and not with the gateway", async () => {
    expect(packagesOf(await loadedScripts(project, "start.mjs"))).not.toContain("undici");
    for (const scenario of ["scenario-import.mjs", "scenario-require.cjs"]) {
      const loaded = await loadedScripts(project, scenario);
      expect(packagesOf(loaded)).toContain("undici");
      expect(readTwice(loaded)).toEqual([]);
    }
  });

  it("is loaded once where one process imports and requires it, but for what loads Node's modules", async () => {
    const both = `import * as imported from "infergate"; import { createRequire } from "node:module";
      const required = createRequire(import.meta.url)("infergate");
      console.log(imported.LedgerInputError === required.LedgerInputError, imported.LedgerInputError.name);`;
    const { stdout } = await node(project, "--input-type=module", "--eval", both);
    expect(stdout).toBe("true LedgerInputError\n");
    const loaded = await loadedScripts(project, "--input-type=module", "--eval", both);
    expect(readTwice(loaded)).toContain("index");
    expect(loaded.bytes).toBeLessThan(mostLoadedBytes * 1.6);
  });

  it("requires no package in what ES modules import, since a bundler could not", async () => {
    const dist = join(project, "node_modules/infergate/dist");
    const imported = packed.filter((path) => path.endsWith(".pure.cjs")).map((path) => path.replace("dist/", "./"));
    expect(imported).toContain("./index.pure.cjs");
    const files = new Set(imported);
    for (const file of files) {
      if (file === "#runtime") continue;
      const text = await readFile(join(dist, file), "utf8");
      for (const [, path = ""] of text.matchAll(/\brequire\("([^"]+)"\)/g)) files.add(path);
    }
    // By this name, package.json chooses a file of the package.
    const runtimes = Object.values(
      JSON.parse(await readFile(join(dist, "../package.json"), "utf8")).imports["#runtime"],
    );
    expect([...files].filter((path) => path !== "#runtime" && !/^\.\/[\w.-]+\.cjs$/.test(path))).toEqual([]);
    expect(runtimes.filter((path) => !packed.includes(String(path).slice(2)))).toEqual([]);
  });

  it.each([
    ["import", "--input-type=module", 'import { createGateway } from "infergate"; createGateway({})'],
    ["require", "--input-type=commonjs", 'require("infergate").createGateway({})'],
  ])("has maps that lead to the line of the source, by %s", async (_name, type, code) => {
    const thrown = await node(project, "--enable-source-maps", type, "--eval", code).catch(String);
    const [, path = "", line] = /at resolveOptions .*\/(src\/[^:]+):(\d+)/.exec(String(thrown)) ?? [];
    expect(path).toBe("src/gateway/resolve-options.ts");
    const source = (await readFile(join(root, path), "utf8")).split("\n");
    expect(source[Number(line) - 1]).toContain("throw new TypeError(listProblems(invalid");
  });

  it("names functions in a stack trace that is read without maps", async () => {
    const code = 'import { createGateway } from "infergate"; createGateway({})';
    const thrown = await node(project, "--input-type=module", "--eval", code).catch(String);
    expect(thrown).toMatch(/at resolveOptions /);
    expect(thrown).toMatch(/at createGateway /);
  });

  it("names no path of the machine that built it", async () => {
    const dist = join(project, "node_modules/infergate/dist");
    for (const file of await readdir(dist)) {
      const text = await readFile(join(dist, file), "utf8");
      expect({ file, found: [root, folder, "/node_modules/"].filter((path) => text.includes(path)) }).toEqual({
        file,
        found: [],
      });
    }
  });

  it.each([
    ["import", ["scenario-import.mjs"]],
    ["require", ["scenario-require.cjs"]],
    ["import, with the transport for other runtimes", ["--conditions=workerd", "scenario-import.mjs"]],
    ["require, with the transport for other runtimes", ["--conditions=workerd", "scenario-require.cjs"]],
    ["import, with what the edge has", ["--conditions=edge-light", "scenario-import.mjs"]],
    ["require, with what the edge has", ["--conditions=edge-light", "scenario-require.cjs"]],
  ])("works by %s", async (_name, args) => {
    const { stdout, stderr } = await node(project, ...args);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(expectedOfScenario);
  });

  it.each(["esm", "cjs"] as const)("works in a bundle by esbuild, as %s", async (format) => {
    const outfile = join(project, `bundle.${format === "esm" ? "mjs" : "cjs"}`);
    const entry = join(project, "start-bundle.mjs");
    await writeFile(
      entry,
      `import { scenario } from "./scenario.cjs"; import * as infergate from "infergate";
       import { toExpressHandler } from "infergate/express"; import { toFastifyPlugin } from "infergate/fastify";
       import { toFetchHandler, toRouteHandlers } from "infergate/fetch"; import { toNodeHandler } from "infergate/node";
       scenario(infergate, { toExpressHandler, toFastifyPlugin, toFetchHandler, toRouteHandlers, toNodeHandler });`,
    );
    // Both require Node's modules.
    const external = ["./scenario.cjs", "undici"];
    await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format, external, logLevel: "error" });
    const { stdout, stderr } = await node(project, outfile);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(expectedOfScenario);
  });

  it.each([
    ["infergate", ["node:async_hooks"]],
    ["infergate/fetch", []],
    ["infergate/redis", []],
    ["infergate/postgres", []],
  ])("needs of Node's modules no more than the edge has: %s", async (name, expectedModules) => {
    const { metafile } = await build({
      ...{ stdin: { contents: `export * from "${name}";`, resolveDir: project }, write: false, metafile: true },
      ...{ bundle: true, platform: "neutral", format: "esm", conditions: ["edge-light", "browser"] },
      ...{ mainFields: ["module", "main"], external: ["node:*"], logLevel: "error" },
    });
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
    expect([...new Set(imports)]).toEqual(expectedModules);
  });

  it.each([
    ["node16, as ESM and CJS", { module: "node16", moduleResolution: "node16" }, ["consumer.mts", "consumer.cts"]],
    ["bundler", { module: "esnext", moduleResolution: "bundler", exactOptionalPropertyTypes: true }, ["consumer.ts"]],
  ])("type-checks under %s", async (_name, options, files) => {
    for (const file of files) await cp(join(consumer, "consumer.ts"), join(project, file));
    const compilerOptions = {
      target: "es2022",
      lib: ["es2022"],
      types: ["node"],
      strict: true,
      noEmit: true,
      ...options,
    };
    const config = `tsconfig.${options.moduleResolution}.json`;
    await writeFile(
      join(project, config),
      JSON.stringify({ compilerOptions: { skipLibCheck: false, ...compilerOptions }, files }),
    );
    const { stdout } = await node(project, join(root, "node_modules/typescript/bin/tsc"), "-p", config);
    expect(stdout).toBe("");
  });
});

const run = promisify(execFile);

/** What `import "infergate"` may load, in bytes of JavaScript. */
const mostLoadedBytes = 1_225_000;

/** The packages that a process has loaded something of. */
function packagesOf({ paths }: LoadedScripts): string[] {
  const names = paths.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}

/** The files of this package that a process has loaded as ES module and as CommonJS: it has two copies of their classes. */
function readTwice({ paths }: LoadedScripts): string[] {
  const files = paths.filter((path) => path.includes("/infergate/")).map((path) => /([^/]+)\.(c?js)$/.exec(path) ?? []);
  const modules = files.filter(([, , kind]) => kind === "js").map(([, name = ""]) => name);
  return modules.filter((module) => files.some(([, name, kind]) => name === module && kind === "cjs"));
}

/** Runs a script; fails with all that it printed. */
async function node(cwd: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  try {
    return await run(process.execPath, args, { cwd });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${args.join(" ")} failed.\n${stdout}${stderr}`);
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
