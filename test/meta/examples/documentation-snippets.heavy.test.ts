import ts from "typescript";
import { expect, it } from "vitest";
import { root, snippets } from "./documentation.js";

/** What the snippets take for granted. */
const givens: Record<string, string> = {
  gateway: 'import type { Gateway } from "infergate"; declare const gateway: Gateway;',
  "app.use": 'import type { Express } from "express"; declare const app: Express;',
  "= app.listen": 'import type { Express } from "express"; declare const app: Express;',
  "app.addHook": 'import type { FastifyInstance } from "fastify"; declare const app: FastifyInstance;',
  "app.register": 'import type { FastifyInstance } from "fastify"; declare const app: FastifyInstance;',
  "await client.": 'import OpenAI from "openai"; declare const client: OpenAI;',
  KeyStore: 'import type { KeyStore } from "infergate";',
  PlanStore: 'import type { PlanStore } from "infergate";',
  GatewayOptions: 'import type { GatewayOptions } from "infergate";',
  "  models,\n":
    'import type { GatewayOptions } from "infergate"; declare const { models, providers }: GatewayOptions;',
  ", models, providers }":
    'import type { GatewayOptions } from "infergate"; declare const { models, providers }: GatewayOptions;',
  ": Model =": 'import type { Model } from "infergate";',
  UpstreamProvider: 'import type { UpstreamProvider } from "infergate";',
  database: `
    interface KeyRow { id: string; userId: string; plan: string; expiresAt: Date | null; subscribedAt: Date }
    interface PlanRow { models: string[]; sessionCredits: number | null; monthCredits: number | null }
    declare const database: {
      apiKeys: { findByHash(hash: string): Promise<KeyRow | undefined> };
      plans: { findById(id: string): Promise<PlanRow | undefined> };
    };`,
};

/** Packages of hosts that the snippets import, and that are not installed here. */
const hostPackages = `
  declare module "next/server" { export function after(work: Promise<unknown> | (() => unknown)): void }
  declare module "@vercel/functions" { export function waitUntil(work: Promise<unknown>): void }`;

function withGivens(snippet: string): string {
  const needed = Object.entries(givens).filter(
    ([name]) =>
      snippet.includes(name) && !new RegExp(`const ${name.replace(/^(= |await )|\..*/g, "")}\\b`).test(snippet),
  );
  return `${needed.map(([, code]) => code).join("\n")}\n${snippet}\nexport {};`;
}

it("the snippets of all pages compile", () => {
  const names = new Map(
    snippets.map(({ page, code }, index) => [`${root}test/${page.replace(/\W+/g, "-")}-${index}.ts`, withGivens(code)]),
  );
  names.set(`${root}test/host-packages.d.ts`, hostPackages);
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => names.has(name) || fileExists(name);
  host.getSourceFile = (name, ...rest) => {
    const code = names.get(name);
    return code === undefined ? getSourceFile(name, ...rest) : ts.createSourceFile(name, code, ts.ScriptTarget.ES2022);
  };
  const program = ts.createProgram([...names.keys()], options, host);
  const problems = [...names.keys()].flatMap((name) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(name))
      .map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`),
  );
  expect(snippets.length).toBeGreaterThan(25);
  expect(problems).toEqual([]);
}, 180_000);
