import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeUpstream, startFakeUpstream } from "../../src/testing.js";
import { bundled } from "../support/bundled.js";
import { runCommand } from "./printed-commands.js";
import { readme, root, snippets, snippetWith } from "./readme.js";

/** What the snippets take for granted. */
const givens: Record<string, string> = {
  gateway: 'import type { Gateway } from "infergate"; declare const gateway: Gateway;',
  "app.use": 'import type { Express } from "express"; declare const app: Express;',
  "= app.listen": 'import type { Express } from "express"; declare const app: Express;',
  "app.addHook": 'import type { FastifyInstance } from "fastify"; declare const app: FastifyInstance;',
  "app.register": 'import type { FastifyInstance } from "fastify"; declare const app: FastifyInstance;',
  KeyStore: 'import type { KeyStore } from "infergate";',
  PlanStore: 'import type { PlanStore } from "infergate";',
  GatewayOptions: 'import type { GatewayOptions } from "infergate";',
  "  models,\n":
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

function withGivens(snippet: string): string {
  const needed = Object.entries(givens).filter(
    ([name]) => snippet.includes(name) && !new RegExp(`const ${name.replace(/^= |\..*/g, "")}\\b`).test(snippet),
  );
  return `${needed.map(([, code]) => code).join("\n")}\n${snippet}\nexport {};`;
}

it("the README's snippets compile", () => {
  const names = new Map(snippets.map((code, index) => [`${root}test/readme-${index}.ts`, withGivens(code)]));
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
  expect(snippets.length).toBeGreaterThan(12);
  expect(problems).toEqual([]);
}, 60_000);

describe("the README's first snippet", () => {
  let upstream: FakeUpstream;
  let folder: string;
  let app: ChildProcess;
  let origin: string;

  /** Writes a snippet down, with what is said in `changes` in the place of what the reader sees. What to run. */
  async function write(name: string, snippet: string, changes: Record<string, string>): Promise<string> {
    let code = snippet;
    for (const [seen, actual] of Object.entries(changes)) {
      if (!code.includes(seen)) throw new Error(`${name} does not contain ${seen}`);
      code = code.replace(seen, () => actual);
    }
    const file = join(folder, name);
    await writeFile(file, code);
    return bundled(file);
  }

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    folder = await mkdtemp(join(tmpdir(), "infergate-readme-"));
    const file = await write("server.ts", snippetWith("import express"), {
      "apiKey: process.env.OPENAI_API_KEY": `baseURL: ${JSON.stringify(upstream.url)}`,
      "app.listen(3000)": "const server = app.listen(0, () => console.log(JSON.stringify(server.address())))",
    });
    app = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
    origin = await new Promise((resolve, reject) => {
      app.stdout?.once("data", (line: Buffer) => resolve(`http://localhost:${JSON.parse(line.toString()).port}`));
      app.once("exit", (code) => reject(new Error(`The server has ended with ${code}`)));
    });
  }, 30_000);

  afterAll(async () => {
    const exit = new Promise((resolve) => app.once("exit", resolve));
    app.kill();
    await exit;
    await upstream.close();
    await rm(folder, { recursive: true });
  });

  it.each(["openai", "@ai-sdk/openai-compatible", "@langchain/openai"])(
    "serves the snippet with %s",
    async (client) => {
      const name = `client${client.replace(/\W/g, "-")}.ts`;
      const file = await write(name, snippetWith(`from "${client}"`), { "http://localhost:3000": origin });
      const { stdout } = await promisify(execFile)(process.execPath, [file]);
      expect(stdout).toBe("Hello world");
      expect(upstream.lastRequest.json).toMatchObject({ model: "gpt-4o-mini" });
    },
    30_000,
  );

  it("serves the commands below it", async () => {
    const [whole = "", usage = ""] = readme.match(/^curl .*\/ai\/.*$/gm) ?? [];
    const run = async (command: string) =>
      JSON.parse(await runCommand(command.replace("http://localhost:3000", origin)));
    expect(await run(whole)).toMatchObject({ model: "acme/small", choices: [{ message: { content: "Hello world" } }] });
    expect(await run(usage)).toMatchObject({ plan: "pro", windows: { session: { limit: 100 } } });
  });
});

it("the README's first 60 lines let a newcomer run it, and find the rest", () => {
  const top = readme.split("\n").slice(0, 60).join("\n");
  for (const step of ["npm run demo", "npm install infergate", snippetWith("import express"), "node server.mjs"])
    expect(top).toContain(step);
  const links = [...readme.matchAll(/\[[^\]]+\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
  const anchorsOf = (heading: RegExp) =>
    [...readme.matchAll(heading)].map(([, name = ""]) =>
      name
        .toLowerCase()
        .replace(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );
  const sections = anchorsOf(/^## (.+)$/gm).filter((anchor) => anchor !== "quick-start");
  expect(sections.length).toBeGreaterThan(10);
  expect(sections.filter((anchor) => !links.includes(anchor))).toEqual([]);
  expect(links.filter((anchor = "") => !anchorsOf(/^##+ (.+)$/gm).includes(anchor))).toEqual([]);
});

it("the README's test of a weekly limit passes as it stands", { timeout: 30_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), "infergate-recipe-"));
  try {
    const file = join(folder, "limit.test.ts");
    await writeFile(file, snippetWith("a user hits the weekly limit"));
    const { stdout } = await promisify(execFile)(process.execPath, [await bundled(file)]);
    expect(stdout).toMatch(/ok 1 - a user hits the weekly limit|✔ a user hits the weekly limit/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
