import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import Database from "libsql";
import { expect, it } from "vitest";
import { createGateway, openAICompatible } from "../../../src/index.js";
import { redisStores } from "../../../src/redis.js";
import { sqliteStores } from "../../../src/sqlite.js";
import { startFakeUpstream } from "../../../src/testing.js";
import { bundled } from "../../support/bundled.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { snippetWith } from "./documentation.js";

const model = {
  id: "acme/small",
  type: "chat" as const,
  contextLength: 8192,
  price: { input: 0, output: 0, request: 1 },
  upstream: { provider: "fake", model: "any" },
};

const givens = `import { openAICompatible } from "infergate";
const models = [${JSON.stringify(model)}];
const providers = { fake: openAICompatible({ baseURL: "http://127.0.0.1:9/v1" }) };
`;

function chatRequest(key: string): Request {
  return new Request("http://app.test/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: model.id, messages: [{ role: "user", content: "Hello!" }] }),
  });
}

it.skipIf(!hasRedisServer)(
  "the pages' way from SQLite to Redis keeps keys, plans and credits",
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "infergate-moving-"));
    const server = await RedisServer.start();
    const upstream = await startFakeUpstream();
    const options = { models: [model], providers: { fake: openAICompatible({ baseURL: upstream.url }) } };

    const database = new Database(join(folder, "gateway.db"));
    const from = sqliteStores({ database });
    const before = createGateway({ ...from, accounts: from.accounts, ...options });
    const expiresAt = Date.now() + 86_400_000;
    await before.plans.put({ id: "pro", models: ["acme/*"], credits: { session: 5, week: 10 } });
    await before.accounts.put({ id: "red", plan: "pro", anchor: expiresAt, metadata: { seats: 3 } });
    await before.accounts.put({ id: "blue", plan: "pro", status: "suspended", message: "Overdue." });
    const red = await before.keys.create({ account: "red", name: "laptop", credits: { month: 50 } });
    const blue = await before.keys.create({ account: "blue" });
    expect((await before.handler(chatRequest(red.secret))).status).toBe(200);
    expect((await before.handler(chatRequest(red.secret))).status).toBe(200);
    await before.accounts.grant("red", { id: "gift", window: "week", amountMicro: 3_000_000 });
    for (const account of ["red", "blue"]) {
      await before.accounts.topUp(account, { id: `${account}_1`, credits: 2, expiresAt });
      await before.accounts.topUp(account, { id: `${account}_2`, credits: 0.5 });
    }
    const plans = await before.plans.list();
    const { prepaid } = await before.accounts.balance("red");
    await before.close();
    database.close();

    const file = join(folder, "move.ts");
    await writeFile(file, givens + snippetWith("moved_"));
    const script = await bundled(file);
    const env = { ...process.env, REDIS_URL: server.url };
    // Again, as after a run that did not come to its end.
    for (const _ of [1, 2]) await promisify(execFile)(process.execPath, [script], { cwd: folder, env });

    const client = new Redis(server.url);
    const to = redisStores({ client });
    const after = createGateway({ ...to, accounts: to.accounts, ...options });
    expect(await after.plans.list()).toEqual(plans);
    expect(await after.accounts.get("red")).toMatchObject({ plan: "pro", anchor: expiresAt, metadata: { seats: 3 } });
    expect((await after.keys.list("red")).map(({ id, name, credits }) => ({ id, name, credits }))).toEqual([
      { id: red.id, name: "laptop", credits: { month: 50 } },
    ]);
    const { windows, ...rest } = await after.accounts.balance("red");
    expect(windows.week).toMatchObject({ remainingMicro: 11_000_000, usedMicro: 0 });
    expect(rest.prepaid).toEqual(prepaid);
    expect((await after.accounts.balance("blue")).prepaid).toEqual(prepaid);
    expect((await after.handler(chatRequest(red.secret))).status).toBe(200);
    expect((await after.handler(chatRequest(blue.secret))).status).toBe(403);

    await after.close();
    await client.quit();
    await upstream.close();
    await server.stop();
    await rm(folder, { recursive: true });
  },
);
