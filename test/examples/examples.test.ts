import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { type RunningExample, runExample } from "./run-example.js";

const run = promisify(execFile);

const hasCurl = spawnSync("curl", ["--version"]).status === 0;
if (!hasCurl) console.warn("SKIPPED: the printed curl commands are not tried, since there is no curl.");

describe.concurrent("examples", () => {
  it.each(["express/server.ts", "fastify/server.ts", "node/server.ts", "fetch/server.ts"])(
    "%s answers whole and streamed, and ends cleanly",
    async (path) => {
      const example = await runExample(path);
      const client = new OpenAI({ baseURL: example.baseURL, apiKey: "sk-demo" });
      const question = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };
      const answer = await client.chat.completions.create(question);
      expect(answer.choices[0]?.message.content).toContain('You said: "Hello!"');
      let text = "";
      for await (const chunk of await client.chat.completions.create({ ...question, stream: true })) {
        text += chunk.choices[0]?.delta.content ?? "";
      }
      expect(text).toBe(answer.choices[0]?.message.content);
      const page = await fetch(new URL("/", example.baseURL));
      expect(page.status).toBe(path.startsWith("node") ? 404 : 200);
      expect(await example.interrupt()).toBe(0);
    },
  );

  it.skipIf(!hasCurl)("of the demo: every command works as printed, and the stock runs out", async () => {
    const example = await runExample("express/server.ts");
    const commands = example.printed().match(/^ {2}(curl|for) .*$/gm) ?? [];
    expect(commands).toHaveLength(4);
    const [whole, streamed, all, last] = commands.map((command) => shell(command));
    expect(JSON.parse((await whole?.()) ?? "")).toMatchObject({ object: "chat.completion" });
    expect(await streamed?.()).toMatch(/^(data: \{.*\}\n\n)+data: \[DONE\]\n\n$/);
    expect(await runPrintedSnippet(example)).toContain("You said");
    expect(await all?.()).toMatch(/^(200\n)+(429\n)+$/);
    expect(await last?.()).toMatch(/^HTTP\/1\.1 429 [\s\S]*retry-after: \d+[\s\S]*session_limit_exceeded/);
    await example.prints(/429 {2}chat\/completions {2}acme\/small .*session_limit_exceeded/);
    expect(example.printed()).toMatch(
      /200 {2}chat\/completions {2}acme\/small {2}\d+ \+ \d+ tokens {2}0\.\d{6} credits {2}\d+ ms/,
    );
    expect(await example.interrupt()).toBe(0);
  });
});

function shell(command: string): () => Promise<string> {
  return async () => (await run("bash", ["-c", command])).stdout;
}

/** In a folder of its own, as a user would. */
async function runPrintedSnippet(example: RunningExample): Promise<string> {
  const snippet = /^ {2}import OpenAI[\s\S]*?console\.log\(.*\);$/m.exec(example.printed())?.[0] ?? "";
  const folder = await mkdtemp(join(tmpdir(), "infergate-snippet-"));
  try {
    await symlink(fileURLToPath(new URL("../../node_modules", import.meta.url)), join(folder, "node_modules"));
    await writeFile(join(folder, "snippet.mjs"), snippet);
    return (await run(process.execPath, ["snippet.mjs"], { cwd: folder })).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
