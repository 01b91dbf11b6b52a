import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { resolveOptions } from "../../src/gateway/options.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(`${root}README.md`, "utf8");
const snippets = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? "");

/** What the snippets take for granted. */
const givens: Record<string, string> = {
  gateway: 'import type { Gateway } from "infergate"; declare const gateway: Gateway;',
  "app.use": 'import type { Express } from "express"; declare const app: Express;',
  "app.register": 'import type { FastifyInstance } from "fastify"; declare const app: FastifyInstance;',
  KeyStore: 'import type { KeyStore } from "infergate";',
  database:
    "declare const database: { apiKeys: { findByHash(hash: string): Promise<{ id: string; userId: string; plan: string; expiresAt: Date | null; subscribedAt: Date } | undefined> } };",
};

function withGivens(snippet: string): string {
  const needed = Object.entries(givens).filter(
    ([name]) => snippet.includes(name) && !new RegExp(`const ${name.replace(/\..*/, "")}\\b`).test(snippet),
  );
  return `${needed.map(([, code]) => code).join("\n")}\n${snippet}\nexport {};`;
}

describe("the README", () => {
  it("has snippets that compile", () => {
    const names = new Map(snippets.map((code, index) => [`${root}test/readme-${index}.ts`, withGivens(code)]));
    const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
    const host = ts.createCompilerHost(options);
    const { getSourceFile, fileExists } = host;
    host.fileExists = (name) => names.has(name) || fileExists(name);
    host.getSourceFile = (name, ...rest) => {
      const code = names.get(name);
      return code === undefined
        ? getSourceFile(name, ...rest)
        : ts.createSourceFile(name, code, ts.ScriptTarget.ES2022);
    };
    const program = ts.createProgram([...names.keys()], options, host);
    const problems = [...names.keys()].flatMap((name) =>
      ts
        .getPreEmitDiagnostics(program, program.getSourceFile(name))
        .map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`),
    );
    expect(snippets.length).toBeGreaterThan(6);
    expect(problems).toEqual([]);
  });

  it("names every option with its default", async () => {
    const rows = new Map(
      [...readme.matchAll(/^\| `(\w+)` \|.*\| (.*) \|$/gm)].map(([, name = "", value = ""]) => [name, value]),
    );
    const provider = { call: () => Promise.reject(new Error("not called")) };
    const stores = { find: () => undefined };
    const ledger = { reserve() {}, renew() {}, settle() {}, release() {} };
    const resolved = resolveOptions({
      models: [],
      keys: stores,
      plans: stores,
      ledger,
      providers: { provider },
    } as never);
    for (const [name, value] of Object.entries(resolved)) {
      if (typeof value !== "number") continue;
      const mebibytes = /^(\d+) MiB$/.exec(rows.get(name) ?? "")?.[1];
      const written =
        mebibytes === undefined ? Number(rows.get(name)?.replace(",", "")) : Number(mebibytes) * 1024 * 1024;
      expect([name, written]).toEqual([name, value]);
    }
  });
});
