import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { layerTable } from "./architecture.js";
import { fits, importsOf, isWithin, refusedImports, sourceTexts } from "./layer-imports.js";
import { fileRules, layers } from "./layers.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const places = layers.map(({ folder }) => folder);
const sources = sourceTexts();

/** What a file would be refused if it had these imports. */
function refused(file: string, imports: readonly string[]): string[] {
  return imports.filter((name) => refusedImports(file, `export type * from ${JSON.stringify(name)};`).length > 0);
}

describe("the layers", () => {
  it("are kept by every import", () => {
    expect([...sources].flatMap(([file, text]) => refusedImports(file, text))).toEqual([]);
    expect(sources.size).toBeGreaterThan(600);
  });

  it("refuse every layer and package that a row does not name, in folders of each depth", () => {
    for (const { folder, imports, packages = [] } of layers) {
      if (folder === "adapters") continue;
      const others = places.filter((place) => place !== folder && !imports.includes(place));
      for (const [within, up] of [
        ["", "../"],
        ["one/", "../../"],
        ["one/two/", "../../../"],
      ]) {
        const file = `src/${folder}/${within}probe.ts`;
        const allowed = imports.map((name) => (name.endsWith(".js") ? up + name : `${up}${name}/any-file.js`));
        const wrong = [
          ...others.map((place) => `${up}${place}/any-file.js`),
          `${up}index.js`,
          "no-such-package",
          folder,
        ];
        const named = packages.map((name) => name.replace("*", "fs"));
        expect({ file, refused: refused(file, ["./any-file.js", ...allowed, ...named, ...wrong]) }).toEqual({
          file,
          refused: wrong,
        });
      }
    }
  });

  it.each([
    ["ledger/credit-ledger.ts", ["../prices/micro.js"], ["./sharded-ledger.js", "../records/keys/key-store.js", "zod"]],
    [
      "providers/transport/undici-probe.ts",
      ["./transport.js", "undici", "node:net"],
      ["../../call/settle.js", "lru-cache"],
    ],
    ["providers/probe.ts", ["./transport/transport.js"], ["undici"]],
    [
      "adapters/probe.ts",
      ["../gateway/gateway.js", "./node.js", "node:http"],
      ["../gateway/create-gateway.js", "../http/message.js", "./express.js", "express", "fastify", "hono"],
    ],
    [
      "adapters/node-probe.ts",
      ["../gateway/gateway.js", "./node-request.js", "node:http"],
      ["../gateway/create-gateway.js", "../http/message.js", "./express.js", "./node.js", "undici"],
    ],
    ["probe.ts", ["./adapters/node.js"], ["zod", "./index.js"]],
    ["nowhere/probe.ts", [], ["./other.js", "../wire/json.js"]],
  ])("hold closer rules for src/%s", (file, allowed, wrong) => {
    expect(refused(`src/${file}`, [...allowed, ...wrong])).toEqual(wrong);
  });

  it("have closer rules only for files and imports that exist", () => {
    const paths = [...sources.keys()];
    const targets = paths.map((path) => path.replace(/\.ts$/, ".js"));
    for (const { files, imports } of fileRules) {
      const idle = [
        ...files.filter((pattern) => !paths.some((path) => fits(`src/${pattern}`, path))),
        ...imports.filter((place) => !targets.some((path) => isWithin(place, path))),
      ];
      expect({ files, idle }).toEqual({ files, idle: [] });
    }
  });

  it("see dynamic imports and types, and say which file imports what, and what its row allows", () => {
    const text =
      'export const late = () => import("../call/meter.js");\nexport type Late = import("../server/paths.js").Late;';
    expect(refusedImports("src/seal/probe.ts", text)).toEqual(
      ["src/call/meter.js", "src/server/paths.js"].map(
        (name) =>
          `src/seal/probe.ts imports ${name}. seal/ answers: What does the gateway sign, so that clients can keep it and ` +
          "send it back? The table of test/meta/package/layers.ts allows: src/seal, src/runtime, src/wire, node:buffer.",
      ),
    );
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

  it("import only what stands above them, and there is one for every folder", () => {
    for (const [index, { folder, imports }] of layers.entries()) {
      const above = places.slice(0, index);
      const below = imports.filter((name) => !above.includes(name.split("/")[0] ?? ""));
      expect({ folder, below }).toEqual({ folder, below: [] });
    }
    const folders = new Set(
      [...sources.keys()].map((file) => file.split("/")[1] ?? "").filter((name) => !/\./.test(name)),
    );
    expect([...folders].sort()).toEqual(places.toSorted());
  });

  it("may import only what one of their files does import", () => {
    const idle = layers.flatMap(({ folder, imports, packages = [] }) => {
      const names = [...sources].flatMap(([file, text]) =>
        file.startsWith(`src/${folder}/`) ? importsOf(file, text) : [],
      );
      return [
        ...imports.filter((place) => !names.some((name) => isWithin(place, name))),
        ...packages.filter((pattern) => !names.some((name) => fits(pattern, name))),
      ].map((name) => `${folder}: ${name}`);
    });
    expect(idle).toEqual([]);
  });

  it("end in entries that only export", () => {
    for (const file of sources.keys()) {
      if (dirname(file) !== "src") continue;
      const others = parse(file).statements.filter((statement) => !ts.isExportDeclaration(statement));
      expect({ file, others: others.map((statement) => statement.getText()) }).toEqual({ file, others: [] });
    }
  });

  it("start with contracts that import types only", () => {
    for (const file of [
      "src/records/keys/key-store.ts",
      "src/records/plans/plan-store.ts",
      "src/ledger/credit-ledger.ts",
      "src/providers/upstream-provider.ts",
    ]) {
      const imports = parse(file).statements.filter(ts.isImportDeclaration);
      const values = imports.filter(({ importClause }) => importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword);
      expect({ file, values: values.map((statement) => statement.getText()) }).toEqual({ file, values: [] });
    }
  });
});

function parse(file: string): ts.SourceFile {
  return ts.createSourceFile(file, sources.get(file) ?? "", ts.ScriptTarget.Latest, true);
}
