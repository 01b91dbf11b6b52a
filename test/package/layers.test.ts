import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { layerTable } from "./architecture.js";
import { layerRules } from "./layer-rules.js";
import { layers } from "./layers.js";
import { lintFiles } from "./lint-files.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What files of a layer import, and what the linter must refuse them. */
interface Probe {
  allowed: string[];
  refused: string[];
}

const places = layers.map(({ folder }) => folder);
/** The adapters' files may not even import each other as they like: see the tests of their own. */
const general = layers.filter(({ folder }) => folder !== "adapters");

/** For a file in each layer, and for one in a folder of it: all that it may import, and one file of each other layer. */
const probes = Object.fromEntries(
  general.flatMap(({ folder, imports, packages = [] }) =>
    ["", "probes/"].map((within): [string, Probe] => {
      const up = within === "" ? "../" : "../../";
      const others = places.filter((place) => place !== folder && !imports.includes(place));
      const named = packages.map((name) => name.replace("*", "fs"));
      const allowed = imports.map((name) => (name.endsWith(".js") ? up + name : `${up}${name}/any-file.js`));
      return [
        `src/${folder}/${within}probe.ts`,
        {
          allowed: ["./any-file.js", ...allowed, ...named],
          refused: [...others.map((place) => `${up}${place}/any-file.js`), `${up}index.js`, "no-such-package"],
        },
      ];
    }),
  ),
);

const special: Record<string, Probe> = {
  "src/ledger/credit-ledger.ts": {
    allowed: ["../metering/micro.js"],
    refused: ["./account-state.js", "../keys/key-store.js", "zod"],
  },
  "src/providers/transport/undici-probe.ts": {
    allowed: ["./transport.js", "undici", "undici/lib/dispatcher/pool.js", "node:net"],
    refused: ["../../call/settle.js", "lru-cache"],
  },
  "src/providers/probe.ts": { allowed: [], refused: ["undici", "undici/lib/dispatcher/pool.js"] },
  "src/adapters/probe.ts": {
    allowed: ["../gateway/gateway.js", "./node.js", "node:http"],
    refused: ["../gateway/create-gateway.js", "../http/message.js", "./express.js", "express", "fastify", "hono"],
  },
  "src/adapters/node-probe.ts": {
    allowed: ["../gateway/gateway.js", "./node-request.js", "node:http"],
    refused: ["../gateway/create-gateway.js", "../http/message.js", "./express.js", "./node.js", "undici"],
  },
  "src/probe.ts": { allowed: ["./adapters/node.js"], refused: ["zod", "./index.js"] },
};

describe("the layers", () => {
  it.each([
    ["in general", probes],
    ["of some files", special],
  ])("are held by the linter, %s", async (_which, wanted) => {
    for (const [file, { allowed, refused }] of Object.entries(await lintProbes(wanted))) {
      expect({ file, refused: refused.toSorted(), allowed }).toEqual({
        file,
        refused: wanted[file]?.refused.toSorted(),
        allowed: wanted[file]?.allowed,
      });
    }
  });

  it("are in the linter's configuration as the table has them: `npm run layers:update` writes them", async () => {
    const config = JSON.parse(await readFile(join(root, "biome.json"), "utf8"));
    const written = config.overrides.filter((rule: object) => JSON.stringify(rule).includes("noRestrictedImports"));
    expect(written).toEqual(layerRules());
  });

  it("are in docs/architecture.md as the table has them, and the files that it names exist", async () => {
    const page = await readFile(join(root, "docs/architecture.md"), "utf8");
    expect(page).toContain(layerTable());
    const named = [...page.matchAll(/^\|[^|]*\| (`[a-z].*`) \|$/gm)].flatMap(([, files = ""]) => [
      ...files.matchAll(/`([^`]+)`/g),
    ]);
    const missing = named.map(([, file = ""]) => file).filter((file) => !existsSync(join(root, "src", file)));
    expect({ missing, isNamed: named.length > 10 }).toEqual({ missing: [], isNamed: true });
  });

  it("import only what stands above them, and there is one for every folder", async () => {
    for (const [index, { folder, imports }] of layers.entries()) {
      const above = places.slice(0, index);
      const below = imports.filter((name) => !above.includes(name.split("/")[0] ?? ""));
      expect({ folder, below }).toEqual({ folder, below: [] });
    }
    const folders = new Set(
      (await sourceFiles()).map((file) => file.split("/")[1] ?? "").filter((name) => !/\./.test(name)),
    );
    expect([...folders].sort()).toEqual(places.toSorted());
  });

  it("may import only what one of their files does import", async () => {
    const imported = new Map<string, string[]>();
    for (const file of await sourceFiles()) {
      const [, folder = ""] = file.split("/");
      const found = ts.preProcessFile(await readFile(join(root, file), "utf8")).importedFiles;
      const names = found.map(({ fileName }) => (fileName.startsWith(".") ? join(dirname(file), fileName) : fileName));
      imported.set(folder, [...(imported.get(folder) ?? []), ...names]);
    }
    for (const { folder, imports, packages = [] } of layers) {
      const names = imported.get(folder) ?? [];
      const idle = [
        ...imports.filter((name) => !names.some((file) => `${file}/`.startsWith(`src/${name}/`))),
        ...packages.filter((name) => !names.some((other) => other === name || isAnyOf(name, other))),
      ];
      expect({ folder, idle }).toEqual({ folder, idle: [] });
    }
  });

  it("have folders of at most 20 files", async () => {
    const counts = new Map<string, number>();
    for (const file of await sourceFiles()) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    const crowded = [...counts].filter(([, count]) => count > 20).map(([folder]) => folder);
    expect(crowded.sort()).toEqual([]);
  });

  it("end in entries that only export", async () => {
    for (const file of await sourceFiles()) {
      if (dirname(file) !== "src") continue;
      const others = (await parse(file)).statements.filter((statement) => !ts.isExportDeclaration(statement));
      expect({ file, others: others.map((statement) => statement.getText()) }).toEqual({ file, others: [] });
    }
  });

  it("start with contracts that import types only", async () => {
    for (const file of [
      "src/keys/key-store.ts",
      "src/plans/plan-store.ts",
      "src/ledger/credit-ledger.ts",
      "src/providers/upstream-provider.ts",
    ]) {
      const imports = (await parse(file)).statements.filter(ts.isImportDeclaration);
      const values = imports.filter(({ importClause }) => importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword);
      expect({ file, values: values.map((statement) => statement.getText()) }).toEqual({ file, values: [] });
    }
  });
});

/** Which of the imports the linter allows and refuses. */
async function lintProbes(probes: Record<string, Probe>): Promise<Record<string, Probe>> {
  const files = Object.entries(probes).map(([file, { allowed, refused }]) => {
    const lines = [...allowed, ...refused].map((source) => `export type * from ${JSON.stringify(source)};`);
    return [file, lines.join("\n")];
  });
  const refusals = await lintFiles(Object.fromEntries(files), "style/noRestrictedImports");
  return Object.fromEntries(
    Object.entries(probes).map(([file, { allowed, refused }]) => {
      const sources = [...allowed, ...refused];
      const isRefused = (source: string) => refusals.has(`${file}:${sources.indexOf(source) + 1}`);
      return [file, { allowed: sources.filter((s) => !isRefused(s)), refused: sources.filter(isRefused) }];
    }),
  );
}

/** @param pattern - such as `node:*`. */
function isAnyOf(pattern: string, name: string): boolean {
  return pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1));
}

async function sourceFiles(): Promise<string[]> {
  const files = await readdir(join(root, "src"), { recursive: true });
  return files.filter((file) => file.endsWith(".ts")).map((file) => join("src", file));
}

async function parse(file: string): Promise<ts.SourceFile> {
  return ts.createSourceFile(file, await readFile(join(root, file), "utf8"), ts.ScriptTarget.Latest, true);
}
