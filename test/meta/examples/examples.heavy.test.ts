import { once } from "node:events";
import { get, type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { crc32, inflateSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { startFakeUpstream } from "../../../src/testing.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { fileOf, hasShell, readCommands, runCommand, runSnippet } from "./printed-commands.js";
import { type RunningExample, runExample } from "./run-example.js";

const running = new Set<RunningExample>();
afterEach(async () => {
  await Promise.all([...running].map((example) => example.kill()));
});

async function start(...parameters: Parameters<typeof runExample>): Promise<RunningExample> {
  const example = await runExample(...parameters);
  running.add(example);
  return example;
}

/** The status of a request with headers that `fetch` does not let through. */
async function statusFor(url: string, headers: OutgoingHttpHeaders): Promise<number | undefined> {
  const [response] = (await once(get(url, { headers }), "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

/** Its size, and the bytes of its rows, with the checksum of each chunk. */
function readPng(png: Buffer): { width: number; height: number; bytes: number } {
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    expect(png.readUInt32BE(end)).toBe(crc32(png.subarray(at + 4, end)));
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") data.push(png.subarray(at + 8, end));
    at = end + 4;
  }
  const bytes = inflateSync(Buffer.concat(data)).length;
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), bytes };
}

describe("examples", () => {
  it.each(["express/server.ts", "fastify/server.ts", "node/server.ts", "fetch/server.ts"])(
    "%s does what it prints, down to the 429, and ends cleanly",
    async (path) => {
      const isDemo = path === "express/server.ts";
      const example = await start(path, {}, isDemo ? "source" : "bundled");
      const { whole, streamed, message, response, useUp, denied, snippet } = readCommands(example.printed());
      expect(JSON.parse(await runCommand(whole))).toMatchObject({ object: "chat.completion", model: "acme/small" });
      expect(await runCommand(streamed)).toMatch(/^(data: \{.*\}\n\n)+data: \[DONE\]\n\n$/);
      // All examples print the same, and each framework's own tests have every path.
      if (isDemo) {
        expect(await runSnippet(snippet)).toContain('You said: "Hello!"');
        expect(JSON.parse(await runCommand(message))).toMatchObject({ type: "message", model: "acme/small" });
        expect(JSON.parse(await runCommand(response))).toMatchObject({ object: "response", status: "completed" });
      }
      await example.prints(/^ {2}200 {2}acme\/small {2}\d+ \+ \d+ tokens {2}0\.\d{6} credits {2}\d+ ms$/m);

      expect(await runCommand(useUp)).toMatch(/^(200\n){2,9}(429\n)+$/);
      const denial = await runCommand(denied);
      expect(denial).toMatch(/^HTTP\/1\.1 429 /);
      expect(denial).toMatch(/^x-ratelimit-remaining-session: 0\r$/m);
      expect(denial).toMatch(/^retry-after: \d+\r$/m);
      expect(denial).toContain('"code":"session_limit_exceeded"');
      await example.prints(/^ {2}429 {2}acme\/small {2}session_limit_exceeded {2}\d+ ms$/m);

      const page = await fetch(new URL("/", example.baseURL));
      expect(await page.text()).toContain("An app like yours");
      expect(await example.interrupt()).toBe(0);
    },
  );

  it.runIf(hasShell)("express/server.ts draws, speaks, hears and ranks, at their prices", async () => {
    const example = await start("express/server.ts");
    const { picture = "", sentence = "", transcript = "", ranking = "" } = readCommands(example.printed());
    const { file: image } = await fileOf(picture);
    expect(image.subarray(0, 8).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
    expect(readPng(image)).toEqual({ width: 64, height: 64, bytes: 64 * (1 + 64 * 3) });
    await example.prints(/^ {2}200 {2}acme\/paint {2}1 image {2}0\.100000 credits {2}\d+ ms$/m);
    const { file: sound, read: heard } = await fileOf(sentence, transcript);
    expect([sound.toString("latin1", 0, 4), sound.toString("latin1", 8, 16)]).toEqual(["RIFF", "WAVEfmt "]);
    expect([sound.readUInt32LE(4), sound.readUInt32LE(40)]).toEqual([sound.length - 8, sound.length - 44]);
    // 60 ms a letter.
    expect((sound.length - 44) / 16_000).toBeCloseTo("Hello!".length * 0.06);
    await example.prints(/^ {2}200 {2}acme\/voice {2}6 characters {2}0\.012000 credits {2}\d+ ms$/m);
    expect(JSON.parse(heard)).toEqual({ text: "hello", usage: { type: "duration", seconds: 0.36 } });
    await example.prints(/^ {2}200 {2}acme\/hear {2}0\.36 s of sound {2}0\.012000 credits {2}\d+ ms$/m);
    expect(JSON.parse(await runCommand(ranking)).results.map(({ index }: { index: number }) => index)).toEqual([1, 0]);
    await example.prints(/^ {2}200 {2}acme\/rank {2}1 search {2}0\.020000 credits {2}\d+ ms$/m);
    expect(await example.interrupt()).toBe(0);
  });

  it("call a real model server when they are told of one", async () => {
    const upstream = await startFakeUpstream();
    const { printed } = await start("express/server.ts", {
      UPSTREAM_BASE_URL: upstream.url,
      UPSTREAM_API_KEY: "sk-upstream",
      UPSTREAM_MODEL: "up/large",
    });
    expect(await runSnippet(readCommands(printed()).snippet)).toBe("Hello world\n");
    expect(upstream.lastRequest.json).toMatchObject({ model: "up/large" });
    expect(upstream.lastRequest.headers.authorization).toBe("Bearer sk-upstream");
    await upstream.close();
  });

  it("express/server.ts signs in whoever is on this machine on both pages, and nobody else", async () => {
    const example = await start("express/server.ts");
    const [account, operator] = ["Your user's page", "Your own page"].map(
      (name) => new RegExp(`${name}\\s+(http:\\S+)`).exec(example.printed())?.[1] ?? "",
    );
    for (const [page, api, found] of [
      [account, "api/me", { account: "acct_1", plan: "starter" }],
      [operator, "api/health", { operator: "you@localhost" }],
    ] as const) {
      const document = await fetch(page ?? "");
      expect([document.status, await document.text()]).toEqual([200, expect.stringContaining("<!doctype html>")]);
      const sameOrigin = { "sec-fetch-site": "same-origin" };
      const response = await fetch(`${page}/${api}`, { headers: sameOrigin });
      expect(await response.json()).toMatchObject(found);
      // A name that somebody else's page has made point at this machine.
      expect(await statusFor(`${page}/${api}`, { ...sameOrigin, host: "demo.test" })).toBe(401);
    }
    expect(await example.interrupt()).toBe(0);
  });

  it("express/server.ts has two weeks behind it with --traffic, goes on with some, and ends when it is told to", async () => {
    const example = await start("express/server.ts --traffic");
    const page = new URL("/admin/", example.baseURL);
    const read = async (path: string): Promise<Record<string, unknown>> => {
      const response = await fetch(new URL(path, page), { headers: { "sec-fetch-site": "same-origin" } });
      expect([path, response.status]).toEqual([path, 200]);
      return (await response.json()) as Record<string, unknown>;
    };
    const { data: accounts } = await read("api/accounts");
    expect((accounts as { id: string }[]).map(({ id }) => id).sort()).toEqual([
      ...["acct_1", "kite-labs", "lighthouse", "nordwind", "paperplane"],
    ]);
    const now = Math.floor(Date.now() / 1000);
    const { data: weeks } = await read(`api/usage?from=${now - 15 * 86_400}&to=${now}&by=account`);
    expect((weeks as { requests: number }[]).reduce((sum, { requests }) => sum + requests, 0)).toBeGreaterThan(200);
    expect(JSON.parse(await runCommand(readCommands(example.printed()).whole))).toMatchObject({ model: "acme/small" });
    await example.prints(/^ {2}200 {2}acme\/(small|large) {2}/m);
    await example.prints(/^ {2}40[134] {2}/m);
    expect(await example.interrupt()).toBe(0);
  });

  it("say so when their port is taken", async () => {
    const { baseURL } = await start("express/server.ts");
    await expect(start("express/server.ts", { PORT: new URL(baseURL).port })).rejects.toThrow(
      "Set PORT to another port.",
    );
  });

  it.runIf(hasRedisServer)(
    "cluster/server.ts shares one stock among four processes, and replaces one that dies",
    async () => {
      const redis = await RedisServer.start();
      try {
        const example = await start("cluster/server.ts", { REDIS_URL: redis.url });
        const { whole, useUp, denied } = readCommands(example.printed());
        expect(JSON.parse(await runCommand(whole))).toMatchObject({ object: "chat.completion" });
        expect(await runCommand(useUp)).toMatch(/^(200\n){4,9}(429\n)+$/);
        const denial = await runCommand(denied);
        expect(denial).toMatch(/^HTTP\/1\.1 429 /);
        expect(denial).toContain('"code":"session_limit_exceeded"');
        await example.prints(/(?:^ {2}\d{3} {2}acme.*$\n){14}/m);
        const served = new Set([...example.printed().matchAll(/ms {2}process (\d+)$/gm)].map(([, pid]) => Number(pid)));
        expect(served.size).toBe(4);

        const [one = 0] = served;
        process.kill(one, "SIGKILL");
        await example.prints(new RegExp(`Process ${one} has ended \\(SIGKILL\\); another one starts`));
        expect(await runCommand(denied)).toMatch(/^HTTP\/1\.1 429 /);
        expect(await example.interrupt()).toBe(0);
      } finally {
        await redis.stop();
      }
    },
  );

  it("express/server.ts keeps what was used in the store that it is told of", async () => {
    const folder = new DatabaseFolder();
    const environment = { DATABASE: `sqlite:${folder.file}` };
    try {
      const first = await start("express/server.ts", environment);
      expect(first.printed()).toContain("it is kept across restarts");
      expect(await runCommand(readCommands(first.printed()).useUp)).toMatch(/^(200\n){4,11}(429\n)+$/);
      expect(await first.interrupt()).toBe(0);
      const second = await start("express/server.ts", environment);
      expect(await runCommand(readCommands(second.printed()).denied)).toMatch(/^HTTP\/1\.1 429 /);
      expect(await second.interrupt()).toBe(0);
    } finally {
      folder.remove();
    }
  });
});

describeWithPostgres("examples on PostgreSQL", (server) => {
  it("express/server.ts takes DATABASE_URL", async () => {
    const example = await start("express/server.ts", { DATABASE_URL: server.url });
    expect(JSON.parse(await runCommand(readCommands(example.printed()).whole))).toMatchObject({ model: "acme/small" });
    expect(await example.interrupt()).toBe(0);
  });
});
