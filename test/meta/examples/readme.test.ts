import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { bundled } from "../../support/bundled.js";
import { pageOf, pages, readme, root, snippetWith } from "./documentation.js";
import { runCommand } from "./printed-commands.js";

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
  });

  afterAll(async () => {
    const exit = new Promise((resolve) => app.once("exit", resolve));
    app.kill();
    await exit;
    await upstream.close();
    await rm(folder, { recursive: true });
  });

  it.each([
    ["openai", 'from "openai";\n\nconst client'],
    ["@ai-sdk/openai-compatible", 'import { streamText } from "ai"'],
    ["@langchain/openai", 'from "@langchain/openai"'],
  ])("serves the snippet with %s", async (client, part) => {
    const name = `client${client.replace(/\W/g, "-")}.ts`;
    const file = await write(name, snippetWith(part), { "http://localhost:3000": origin });
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    expect(stdout).toBe("Hello world");
    expect(upstream.lastRequest.json).toMatchObject({ model: "gpt-4o-mini" });
  });

  it("can be called in its process, by the snippet for that", async () => {
    const gateway = snippetWith("import express")
      .replace(/^import (express|.*infergate\/express).*\n/gm, "")
      .replace(/^const app[\s\S]*/m, "");
    const file = await write("in-process.ts", gateway + snippetWith('key: "summaries"'), {
      "apiKey: process.env.OPENAI_API_KEY": `baseURL: ${JSON.stringify(upstream.url)}`,
      'apiKey: "none" });': `apiKey: "none" });
const messages = [{ role: "user" as const, content: "Hello!" }];
const { choices } = await client.chat.completions.create({ model: "acme/small", messages });
const { windows } = await gateway.accounts.balance("acct_1");
console.log(choices[0]?.message.content, windows.week.usedMicro);
await gateway.close();`,
    });
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    expect(stdout).toMatch(/^Hello world [1-9]\d*\n$/);
  });

  it("serves the commands below it", async () => {
    const [whole = "", usage = ""] = readme.match(/^curl .*\/ai\/.*$/gm) ?? [];
    const run = async (command: string) =>
      JSON.parse(await runCommand(command.replace("http://localhost:3000", origin)));
    expect(await run(whole)).toMatchObject({ model: "acme/small", choices: [{ message: { content: "Hello world" } }] });
    expect(await run(usage)).toMatchObject({ plan: "pro", windows: { session: { limit: 100 } } });
  });
});

it("the README's first 60 lines let a newcomer run it", () => {
  const top = readme.split("\n").slice(0, 60).join("\n");
  for (const step of ["npm install infergate", "node server.mjs", "npm run demo", snippetWith("import express")])
    expect(top).toContain(step);
});

it("the two commands of a newcomer stand whole on a line each, and their scripts are there", () => {
  const lines = readme.split("\n");
  for (const command of ["npm ci && npm run demo", "npm ci && npm test"]) expect(lines).toContain(command);
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["demo", "test"]));
});

it("the README has at most 250 lines", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(250);
});

it("the README and the index of the pages list the same pages, in the same words", () => {
  const rowsOf = (page: string, folder: string) =>
    [...pageOf(page).matchAll(/^\| \[([^\]]+)\]\(([\w/-]+\.md)\) \| (.+) \|$/gm)].map(
      ([, title, path = "", what]) => `${title}: ${path.replace(folder, "")}: ${what}`,
    );
  const listed = rowsOf("README.md", "docs/");
  const userPages = [...pages.keys()].filter((path) => /^docs\/(?!README|architecture)[\w-]+\.md$/.test(path));
  expect(listed.length).toBe(userPages.length);
  expect(rowsOf("docs/README.md", "").slice(0, listed.length)).toEqual(listed);
});

it("the pages' test of a weekly limit passes as it stands", async () => {
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
