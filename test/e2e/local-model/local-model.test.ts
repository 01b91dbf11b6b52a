import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { llamaCpp } from "../../../src/providers/local-presets.js";
import { smallModel } from "../../support/test-gateway.js";
import { type ClientServer, startServer } from "../clients/start-server.js";

const example = new URL("../../../examples/local-model/", import.meta.url);

/** node-llama-cpp is large, and installed by hand in the example's folder only. */
function isInstalled(): boolean {
  try {
    createRequire(new URL("llama-server.ts", example)).resolve("node-llama-cpp");
    return true;
  } catch {
    console.warn("SKIPPED: no node-llama-cpp. Run `npm install` in examples/local-model to test a real llama.cpp.");
    return false;
  }
}

interface Example {
  startLlamaServer(path: string): Promise<{ url: string; close(): Promise<void> }>;
  letterModel(text: string): Buffer;
}

/** MODEL names a real model; otherwise one is made. */
async function loadExample(): Promise<Example> {
  const load = async (name: string) => import(/* @vite-ignore */ new URL(name, example).href);
  return { ...(await load("llama-server.ts")), ...(await load("letter-model.ts")) };
}

describe.skipIf(!isInstalled())("a real llama.cpp behind the gateway", () => {
  let folder: string;
  let llama: Awaited<ReturnType<Example["startLlamaServer"]>>;
  let server: ClientServer;
  let client: OpenAI;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "infergate-model-"));
    const { startLlamaServer, letterModel } = await loadExample();
    const path = process.env["MODEL"] ?? join(folder, "model.gguf");
    if (process.env["MODEL"] === undefined) {
      await writeFile(path, letterModel(await readFile(new URL("../../../README.md", example), "utf8")));
    }
    llama = await startLlamaServer(path);
    const model = { ...smallModel, contextLength: 4096, maxOutputTokens: 64 };
    server = await startServer({ models: [model], providers: { fake: llamaCpp({ baseURL: llama.url }) } });
    client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 });
  });
  afterAll(async () => {
    await server?.checkBooks();
    await server?.close();
    await llama?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const hello = {
    model: "acme/small",
    messages: [
      { role: "developer" as const, content: "Be brief." },
      { role: "user" as const, content: "Hello!" },
    ],
    seed: 7,
  };

  it("answers whole, within the cap", async () => {
    const answer = await client.chat.completions.create({ ...hello, max_completion_tokens: 20 });
    expect(answer.choices[0]?.message.content).toMatch(/./);
    const { prompt_tokens = 0, completion_tokens = 0 } = answer.usage ?? {};
    expect(prompt_tokens).toBeGreaterThan(5);
    expect(completion_tokens).toBeLessThanOrEqual(21);
    await server.checkBooks();
    expect(server.events.at(-1)).toMatchObject({
      usageSource: "provider",
      tokens: { input: prompt_tokens, output: completion_tokens },
      chargedMicro: prompt_tokens + 10 * completion_tokens,
    });
  });

  it("streams the same", async () => {
    const whole = await client.chat.completions.create({ ...hello, max_tokens: 30, temperature: 0 });
    const stream = client.chat.completions.stream({ ...hello, max_tokens: 30, temperature: 0 });
    const pieces: string[] = [];
    stream.on("content", (piece) => pieces.push(piece));
    const final = await stream.finalChatCompletion();
    expect(pieces.length).toBeGreaterThan(1);
    expect(final.choices[0]?.message.content?.trim()).toBe(whole.choices[0]?.message.content?.trim());
    expect(final.choices[0]?.finish_reason).toBe(whole.choices[0]?.finish_reason);
  });

  it("stops when the client leaves, and serves the next", async () => {
    const stream = await client.chat.completions.create({ ...hello, stream: true });
    for await (const _chunk of stream) break;
    const answer = await client.chat.completions.create({ ...hello, max_tokens: 5 });
    expect(answer.choices[0]?.message.content).toBeDefined();
    await server.checkBooks();
  });

  it("says what it does not take", async () => {
    const messages = [{ role: "assistant" as const, content: "I was first." }];
    await expect(client.chat.completions.create({ ...hello, messages })).rejects.toMatchObject({
      status: 400,
      code: "upstream_rejected",
    });
  });
});
