import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { resolve as absolute, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** For one file of each layer: what it may import, and what the linter must refuse. */
const rules: Record<string, { allowed: string[]; refused: string[] }> = {
  "src/openai/probe.ts": {
    allowed: ["./errors.js", "zod", "eventsource-parser", "node:buffer"],
    refused: ["../ledger/credit-ledger.js", "../pipeline/run.js", "lru-cache", "node:http", "@scope/package"],
  },
  "src/ledger/credit-ledger.ts": {
    allowed: ["../openai/usage.js"],
    refused: ["./memory-credit-ledger.js", "../keys/key-store.js", "zod"],
  },
  "src/ledger/probe.ts": {
    allowed: ["./credit-ledger.js", "../openai/usage.js", "zod"],
    refused: [
      "../plans/plan-store.js",
      "../endpoints/models.js",
      "../pipeline/run.js",
      "../gateway/gateway.js",
      "undici",
    ],
  },
  "src/guard/probe.ts": {
    allowed: ["./time-limit.js", "../ledger/credit-ledger.js", "../ledger/memory-credit-ledger.js"],
    refused: ["../pipeline/settle.js", "../gateway/options.js", "../redis/redis-credit-ledger.js", "zod", "lru-cache"],
  },
  "src/postgres/probe.ts": {
    allowed: [
      "./database.js",
      "./sql/ledger-tables.js",
      "../ledger/account-state.js",
      "../plans/checked-plan-store.js",
      "zod",
    ],
    refused: ["../ledger/memory-credit-ledger.js", "../pipeline/settle.js", "../sqlite/text.js", "pg", "postgres"],
  },
  "src/sqlite/probe.ts": {
    allowed: ["./migrate.js", "../ledger/account-state.js", "../keys/checked-key-store.js", "node:crypto"],
    refused: ["../ledger/memory-credit-ledger.js", "../pipeline/settle.js", "libsql", "better-sqlite3", "node:sqlite"],
  },
  "src/redis/probe.ts": {
    allowed: [
      "./run-script.js",
      "./lua/clock.js",
      "../ledger/account-state.js",
      "../plans/checked-plan-store.js",
      "zod",
    ],
    refused: ["../ledger/memory-credit-ledger.js", "../pipeline/run.js", "../gateway/gateway.js", "ioredis", "redis"],
  },
  "src/providers/probe.ts": {
    allowed: ["./upstream-provider.js", "#transport", "zod"],
    refused: ["undici", "undici/lib/dispatcher/pool.js", "../pipeline/settle.js", "../index.js"],
  },
  "src/providers/undici-probe.ts": {
    allowed: ["./transport.js", "undici", "undici/lib/dispatcher/pool.js", "node:net"],
    refused: ["../pipeline/settle.js", "lru-cache"],
  },
  "src/ai-sdk/probe.ts": {
    allowed: ["./prompt.js", "../openai/errors.js", "../providers/upstream-provider.js", "zod"],
    refused: ["../providers/openai-compatible.js", "../pipeline/settle.js", "ai", "@ai-sdk/provider"],
  },
  "src/endpoints/probe.ts": {
    allowed: ["./routes.js", "../openai/errors.js"],
    refused: ["../pipeline/run.js", "../providers/upstream-provider.js", "../gateway/options.js"],
  },
  "src/pipeline/probe.ts": {
    allowed: ["./run.js", "../ledger/credit-ledger.js", "../ledger/windows.js", "../openai/errors.js", "lru-cache"],
    refused: [
      "../ledger/memory-credit-ledger.js",
      "../keys/memory-key-store.js",
      "../providers/openai-compatible.js",
      "../gateway/gateway.js",
      "../adapters/node.js",
      "undici",
    ],
  },
  "src/gateway/probe.ts": {
    allowed: ["./gateway.js", "../pipeline/run.js", "../endpoints/routes.js", "../plans/plan-store.js", "zod"],
    refused: ["../adapters/node.js", "../plans/memory-plan-store.js", "../index.js", "express"],
  },
  "src/testing/probe.ts": {
    allowed: ["./expect.js", "../ledger/credit-ledger.js", "../ledger/windows.js", "../keys/hash-key.js", "node:test"],
    refused: ["../ledger/memory-credit-ledger.js", "../gateway/gateway.js", "vitest", "fast-check", "undici"],
  },
  "src/adapters/probe.ts": {
    allowed: ["../gateway/gateway.js", "./node.js", "node:http"],
    refused: ["../gateway/create-gateway.js", "../pipeline/exchange.js", "./express.js", "express", "fastify", "hono"],
  },
  "src/adapters/node-probe.ts": {
    allowed: ["../gateway/gateway.js", "./node-request.js", "node:http"],
    refused: ["../gateway/create-gateway.js", "../pipeline/exchange.js", "./express.js", "./node.js", "undici"],
  },
  "src/probe.ts": { allowed: ["./adapters/node.js"], refused: ["zod", "./index.js"] },
};

describe("the layers", () => {
  it("are held by the linter", async () => {
    for (const [file, { allowed, refused }] of Object.entries(await lintProbes(rules))) {
      expect({ file, refused: refused.toSorted(), allowed }).toEqual({
        file,
        refused: rules[file]?.refused.toSorted(),
        allowed: rules[file]?.allowed,
      });
    }
  });

  it("have a rule for every folder", async () => {
    const folders = (await sourceFiles()).map((file) => dirname(file));
    const probes = Object.fromEntries(
      folders.map((folder) => [`${folder}/any-file.ts`, { allowed: [], refused: ["no-such-package"] }]),
    );
    expect(await lintProbes(probes)).toEqual(probes);
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

/** Which of the imports the linter allows and refuses, when the files stand alone in a project with this one's rules. */
async function lintProbes(probes: typeof rules): Promise<typeof rules> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "infergate-layers-")));
  try {
    await copyFile(join(root, "biome.json"), join(folder, "biome.json"));
    for (const [file, { allowed, refused }] of Object.entries(probes)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      const lines = [...allowed, ...refused].map((source) => `export type * from ${JSON.stringify(source)};`);
      await writeFile(join(folder, file), lines.join("\n"));
    }
    const refusals = await lint(folder);
    return Object.fromEntries(
      Object.entries(probes).map(([file, { allowed, refused }]) => {
        const sources = [...allowed, ...refused];
        const isRefused = (source: string) => refusals.has(`${file}:${sources.indexOf(source) + 1}`);
        return [file, { allowed: sources.filter((s) => !isRefused(s)), refused: sources.filter(isRefused) }];
      }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The places, as `file:line`, of the imports that are refused. */
function lint(folder: string): Promise<Set<string>> {
  const args = ["lint", "--only=style/noRestrictedImports", "--reporter=github", "--max-diagnostics=none"];
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [biome, ...args, "--vcs-enabled=false", "."],
      { cwd: folder, maxBuffer: 2 ** 24 },
      (_error, out, errors) => {
        const refusals = [...out.matchAll(/title=lint\/style\/noRestrictedImports,file=(.*?),line=(\d+),/g)];
        if (refusals.length === 0) reject(new Error(`Nothing was refused.\n${out}${errors}`));
        resolve(new Set(refusals.map(([, file = "", line]) => `${relative(folder, absolute(folder, file))}:${line}`)));
      },
    );
  });
}

async function sourceFiles(): Promise<string[]> {
  const files = await readdir(join(root, "src"), { recursive: true });
  return files.filter((file) => file.endsWith(".ts")).map((file) => join("src", file));
}

async function parse(file: string): Promise<ts.SourceFile> {
  return ts.createSourceFile(file, await readFile(join(root, file), "utf8"), ts.ScriptTarget.Latest, true);
}
